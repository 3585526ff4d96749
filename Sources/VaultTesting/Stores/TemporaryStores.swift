import LinuxSystem
public import Testing
public import Vault

/// Fresh, empty stores for one test: a keychain and preferences in a separate folder, and a store in memory.
///
/// They replace the standard stores of a task while it runs the closure of `withTemporaryStores(files:_:)` or a test
/// with the trait `.temporaryStores`; see <doc:IsolatedTests>. Releasing this object removes the folder.
public final class TemporaryStores: Sendable {
    /// The keychain, which is a vault with its own key file.
    public let keychain: Keychain
    /// The preferences, in a property list.
    public let preferences: Preferences
    /// The store that keeps its values in memory.
    public let memory = MemoryStore()
    let folder: TemporaryFolder
    private let standard: StandardStores

    /// Creates the stores.
    ///
    /// - Parameter files: makes calls on the files of the keychain and the preferences fail on demand.
    /// - Throws: ``VaultError`` with `unavailable` if the stores cannot be created.
    public init(files: FaultyFiles? = nil) throws(VaultError) {
        folder = try TemporaryFolder()
        let fileSystem: any FileSystem = files?.fileSystem ?? PosixFileSystem()
        let location = VaultLocation(
            vault: folder.file("test.vault"), keyFile: folder.file("test.key"), rollbackMemory: folder.file("state"))
        keychain = try Keychain(at: location, creatingIfAbsent: true, in: fileSystem)
        preferences = Preferences(.success(folder.file("test.plist")), in: fileSystem)
        standard = StandardStores(preferences: preferences, memory: memory)
    }

    /// Runs `body` with these stores as the standard ones.
    public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        // Retains this object while `body` runs, because releasing it would remove the folder.
        defer { withExtendedLifetime(self) {} }
        return try TestKeychain.$current.withValue(keychain) {
            try StandardStores.$replaced.withValue(standard) { try body() }
        }
    }

    /// Runs an asynchronous `body` with these stores as the standard ones.
    public nonisolated(nonsending) func run<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        defer { withExtendedLifetime(self) {} }
        return try await TestKeychain.$current.withValue(keychain) {
            try await StandardStores.$replaced.withValue(standard) { try await body() }
        }
    }
}

extension TemporaryStores: Redacted { public var description: String { "TemporaryStores" } }

/// Gives each test its own fresh stores; see ``TemporaryStores``.
public struct TemporaryStoresTrait: TestTrait, SuiteTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite as a whole gets no stores, because each of its tests gets its own.
        guard testCase != nil else { return try await function() }
        try await withTemporaryStores { _ in try await function() }
    }
}

extension Trait where Self == TemporaryStoresTrait {
    /// Gives each test, and each argument of a test, fresh, empty stores. Even parallel tests never share stores.
    public static var temporaryStores: Self { Self() }
}

/// Runs `body` with fresh, empty stores as the standard ones, and removes the stores afterwards, even if `body` throws.
///
/// - Parameter files: makes calls on the stores' files fail on demand.
/// - Throws: the error of `body`; ``VaultError`` if the stores cannot be created.
public func withTemporaryStores<Result>(
    files: FaultyFiles? = nil, _ body: (TemporaryStores) throws -> Result
) throws -> Result {
    let stores = try TemporaryStores(files: files)
    defer { stores.folder.remove() }
    return try stores.run { try body(stores) }
}

/// Runs an asynchronous `body` with fresh, empty stores as the standard ones, and removes the stores afterwards.
public nonisolated(nonsending) func withTemporaryStores<Result>(
    files: FaultyFiles? = nil, _ body: nonisolated(nonsending) (TemporaryStores) async throws -> Result
) async throws -> Result {
    let stores = try TemporaryStores(files: files)
    defer { stores.folder.remove() }
    return try await stores.run { try await body(stores) }
}
