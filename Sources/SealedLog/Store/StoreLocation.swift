package import LinuxSystem

/// Where the bytes of a vault are kept: opens and creates the store there.
package protocol StoreLocation: Sendable {
    /// For messages, and what the rollback memory knows the place by.
    var path: String { get }
    /// The hash of the name that a vault in it has to be bound to; nil if it may have any.
    var vaultName: [UInt8]? { get }
    /// That of the rollback memory.
    var files: any FileSystem { get }

    /// Opens the store. Throws `missing` if there is none, `gone` if this process has found one there before.
    func open(_ way: StoreOpening) throws(LogError) -> any RecordStore
    /// Returns whether there is a store.
    func exists() throws(LogError) -> Bool
    /// Creates an empty store that gets its location once it is published.
    func createUnpublished() throws(LogError) -> any NewStore
    /// Does the same, and takes its lock: nobody then takes it for one that a killed process has left. Throws `busy`
    /// while another one is being written for the location.
    func createLocked() throws(LogError) -> any NewStore
    /// Calls `onChange` whenever the store may have changed, from a thread of its own, until the result is released.
    func watch(onChange: @escaping @Sendable () -> Void) throws(LogError) -> any AnyObject & Sendable
    /// Returns one of many locks that mean nothing to the store, not yet taken.
    ///
    /// - Parameter number: below 2^62.
    func namedLock(_ number: Int64) throws(LogError) -> any NamedLock
    /// Returns what was met since the last time that failed no call.
    func takeNotices() -> [Notice]
    /// What a person or an administrator may want to know; nil if there is nothing, as of a file.
    var report: (any StoreReport)? { get }
    /// Returns a copy of the vault with changes that were made while no server answered, to be merged; nil if there is
    /// none.
    func pending() throws(LogError) -> FileLocation?
}

/// What a person or an administrator may want to know of a location on a server.
package protocol StoreReport {
    /// What an administrator runs to prepare the database, where users may not.
    var preparation: String { get }
    /// Checks the server, for a person.
    func findings() throws(LogError) -> [StoreFinding]
    /// How far this machine's clock is ahead of the server's, in milliseconds; nil if the server was not asked.
    var clockDifference: Int64? { get }
    /// nil if this machine keeps no copy.
    var keptCopy: KeptCopy? { get }
}

/// How a store is opened.
package enum StoreOpening: Sendable {
    /// Perhaps as this machine knows it, without a look at where it is: the first look at the log's end follows.
    case quick
    /// As it is now. What this machine has kept of it is in doubt.
    case fresh
    /// For reading only, and around what cannot be read.
    case damaged
}

/// A lock between processes, held from a successful try on for as long as this object lives.
package protocol NamedLock: AnyObject, Sendable {
    /// Returns false if another process or thread holds it.
    func tryLock() throws(LogError) -> Bool
    /// Throws if the lock was taken and is lost since: another process may have it.
    func check() throws(LogError)
}

extension StoreLocation {
    package func exists() throws(LogError) -> Bool {
        do { _ = try open(.fresh) } catch {
            guard [.missing, .gone].contains(error.code) else { throw error }
            return false
        }
        return true
    }

    package var vaultName: [UInt8]? { nil }
    package func takeNotices() -> [Notice] { [] }
    package func pending() throws(LogError) -> FileLocation? { nil }
    package var report: (any StoreReport)? { nil }
}

/// The path of a file.
package struct FileLocation: StoreLocation {
    /// How the names of files end in which changes wait for a server.
    package static let pendingEnding = "-offline.vault"
    /// The same of those of which a merge has refused some.
    package static let refusedEnding = ".refused.vault"

    package let path: String
    package let files: any FileSystem
    private let target: (any StoreLocation)?
    private let lockTimeout: Duration

    /// - Parameters:
    ///   - path: without symbolic links: a rename would replace them.
    ///   - target: where the changes in the file are to be merged, if this machine keeps them apart until then.
    ///   - lockTimeout: how long a reader waits for the lock, where it needs one: on a remote file system.
    package init(
        _ path: String, in files: any FileSystem, mergedInto target: (any StoreLocation)? = nil,
        lockTimeout: Duration = .seconds(10)
    ) {
        self.lockTimeout = lockTimeout
        self.path = path
        self.files = files
        self.target = target
    }

    package func open(_ way: StoreOpening) throws(LogError) -> any RecordStore {
        try FileRecordStore.open(
            path, isDamaged: way == .damaged, mergedInto: target, lockTimeout: lockTimeout, in: files)
    }

    package func exists() throws(LogError) -> Bool {
        try translated(unlessMissing(files.status(at: path)), at: path) != nil
    }

    package func createUnpublished() throws(LogError) -> any NewStore {
        try FileRecordStore.createUnpublished(for: path, in: files)
    }

    package func createLocked() throws(LogError) -> any NewStore {
        try FileRecordStore.createLocked(for: path, in: files)
    }

    package func watch(onChange: @escaping @Sendable () -> Void) throws(LogError) -> any AnyObject & Sendable {
        try translated(FileWatch(path, in: files, onChange: onChange), at: path)
    }

    /// The lock of one byte of the file `VAULT.locks`, which is created beside the vault and stays empty. It is never
    /// removed: two processes could then have a file each.
    package func namedLock(_ number: Int64) throws(LogError) -> any NamedLock {
        let path = self.path + ".locks"
        let file = try translated(files.open(path, .readWriteOrCreateNoFollow), at: path)
        // One that root creates is its user's.
        if let owner = try? files.status(at: path) { try? files.setOwner(of: file, asOf: owner) }
        return NamedByteLock(lock: ByteLock(file, offset: number), path: path)
    }
}

private final class NamedByteLock: NamedLock {
    private let lock: ByteLock
    private let path: String

    init(lock: ByteLock, path: String) { (self.lock, self.path) = (lock, path) }

    func tryLock() throws(LogError) -> Bool { try translated(lock.tryLock(), at: path) }
    // The kernel keeps it for as long as the file is open.
    func check() throws(LogError) {}
}
