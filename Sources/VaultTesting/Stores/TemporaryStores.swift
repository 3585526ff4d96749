import LinuxSystem
public import Vault

/// Fresh, empty stores for one test: a keychain and preferences in a folder of their own, and a store in memory.
///
/// While a closure of `withTemporaryStores(files:_:)` or a test with the trait `.temporaryStores` runs, they are ``Keychain/standard``,
/// ``Preferences/standard`` and ``MemoryStore/standard`` for its task and the tasks below it. Detached tasks and threads do not
/// inherit them: pass the stores there.
///
/// The folder is removed with the value.
public final class TemporaryStores: Sendable {
    /// The keychain: a vault with a key of its own.
    public let keychain: Keychain
    /// The preferences: a property list.
    public let preferences: Preferences
    /// The store in memory.
    public let memory = MemoryStore()
    private let folder: TemporaryFolder

    /// Makes the stores.
    ///
    /// - Parameter files: lets calls on the files of the keychain and the preferences fail on demand.
    /// - Throws: ``VaultError`` with `unavailable` if they cannot be made.
    public init(files: FaultyFiles? = nil) throws(VaultError) {
        folder = try TemporaryFolder()
        let fileSystem: any FileSystem = files?.fileSystem ?? PosixFileSystem()
        let places = VaultPlaces(
            vault: folder.file("test.vault"), keyFile: folder.file("test.key"), memory: folder.file("state"))
        keychain = try Keychain(at: places, creating: .ifAbsent, in: fileSystem)
        preferences = Preferences(.success(folder.file("test.plist")), in: fileSystem)
    }

    /// Runs `body` with the stores as the standard ones.
    public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        // The folder goes with this value, which nothing else may hold.
        defer { withExtendedLifetime(self) {} }
        return try StandardStores.$replaced.withValue(standard) { try body() }
    }

    /// Runs `body` with the stores as the standard ones.
    public nonisolated(nonsending) func run<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        defer { withExtendedLifetime(self) {} }
        return try await StandardStores.$replaced.withValue(standard) { try await body() }
    }

    private var standard: StandardStores {
        StandardStores(keychain: keychain, preferences: preferences, memory: memory)
    }

    /// Removes the files, even if someone still has the stores.
    func remove() {
        folder.remove()
    }
}

/// Runs `body` with fresh, empty stores as the standard ones; they are gone afterwards, also if it throws.
///
/// - Parameter files: lets calls on the stores' files fail on demand.
/// - Throws: what `body` throws; ``VaultError`` if the stores cannot be made.
public func withTemporaryStores<Result>(
    files: FaultyFiles? = nil, _ body: (TemporaryStores) throws -> Result
) throws -> Result {
    let stores = try TemporaryStores(files: files)
    defer { stores.remove() }
    return try stores.run { try body(stores) }
}

/// Runs `body` with fresh, empty stores as the standard ones; they are gone afterwards, also if it throws.
///
/// - Parameter files: lets calls on the stores' files fail on demand.
/// - Throws: what `body` throws; ``VaultError`` if the stores cannot be made.
public nonisolated(nonsending) func withTemporaryStores<Result>(
    files: FaultyFiles? = nil, _ body: nonisolated(nonsending) (TemporaryStores) async throws -> Result
) async throws -> Result {
    let stores = try TemporaryStores(files: files)
    defer { stores.remove() }
    return try await stores.run { try await body(stores) }
}
