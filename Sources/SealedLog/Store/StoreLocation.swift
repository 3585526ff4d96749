package import LinuxSystem

/// The location of a vault's bytes, such as a file or a database. It can open or create the store there.
package protocol StoreLocation: Sendable {
    /// The location's name in messages and in the rollback memory.
    var path: String { get }
    /// The hash of the name that a vault at this location must be bound to; nil if any name is allowed.
    var vaultName: [UInt8]? { get }
    /// The file system that contains the rollback memory.
    var files: any FileSystem { get }

    /// Opens the store. If no store exists, throws `missing`, or `gone` if this process has found a store here before.
    func open(_ way: StoreOpening) throws(LogError) -> any RecordStore
    func exists() throws(LogError) -> Bool
    /// Creates an empty store, which appears at this location when it is published.
    func createUnpublished() throws(LogError) -> any NewStore
    /// Creates an empty store and acquires its lock. The lock shows other processes that the store is in use, rather
    /// than left behind by a killed process. Throws `busy` if another process is writing a store for this location.
    func createLocked() throws(LogError) -> any NewStore
    /// Calls `onChange` on a separate thread whenever the store may have changed. Stops when the result is released.
    func watch(onChange: @escaping @Sendable () -> Void) throws(LogError) -> any AnyObject & Sendable
    /// Returns the lock with the given number, without acquiring it. The lock is independent of the store's own lock.
    ///
    /// - Parameter number: the lock's number, below 2^62.
    func namedLock(_ number: Int64) throws(LogError) -> any NamedLock
    /// Returns the problems that have occurred since the last call but have not made an operation fail.
    func takeNotices() -> [Notice]
    /// Details about the location for users and administrators; nil if there are none.
    var report: (any StoreReport)? { get }
    /// Returns the location of the changes that were made while the server was unreachable; nil if there are none.
    func pending() throws(LogError) -> FileLocation?
}

/// Details about a location on a server, for users and administrators.
package protocol StoreReport {
    /// The SQL statements that an administrator must run if the vault's users lack permission to prepare the database.
    var preparation: String { get }
    /// Checks the server and returns the results as text for the user.
    func findings() throws(LogError) -> [StoreFinding]
    /// The milliseconds by which this machine's clock is ahead of the server's; nil if the server's time is unknown.
    var clockDifference: Int64? { get }
    var keptCopy: KeptCopy? { get }
}

/// The ways to open a store.
package enum StoreOpening: Sendable {
    /// Opens this machine's copy without a connection, if a copy exists. The copy is compared with the store later.
    case quick
    /// Opens the store in its current state, without trusting the copy on this machine.
    case fresh
    /// Opens the store for reading only, and skips parts that cannot be read.
    case damaged
}

/// A lock between processes. Once acquired, it is held until this object is released.
package protocol NamedLock: AnyObject, Sendable {
    /// Tries to acquire the lock. Returns false if another process or thread holds it.
    func tryLock() throws(LogError) -> Bool
    /// Throws if the lock was acquired but has since been lost, so that another process may hold it.
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

package struct FileLocation: StoreLocation {
    /// The suffix of files with pending changes for a server.
    package static let pendingEnding = "-offline.vault"
    /// The suffix of files with changes that a merge has rejected.
    package static let refusedEnding = ".refused.vault"

    package let path: String
    package let files: any FileSystem
    private let target: (any StoreLocation)?

    /// Creates the location of a file.
    ///
    /// - Parameters:
    ///   - path: a path with symbolic links resolved. Otherwise, a rename would replace a link rather than the file.
    ///   - target: the location into which the file's pending changes are to be merged; nil if the file is a vault.
    package init(_ path: String, in files: any FileSystem, mergedInto target: (any StoreLocation)? = nil) {
        self.path = path
        self.files = files
        self.target = target
    }

    package func open(_ way: StoreOpening) throws(LogError) -> any RecordStore {
        try FileRecordStore.open(path, isDamaged: way == .damaged, mergedInto: target, in: files)
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

    /// Returns the lock on one byte of the file `VAULT.locks`, which is created next to the vault and stays empty. The
    /// file is never removed. Otherwise, two processes could lock different files.
    package func namedLock(_ number: Int64) throws(LogError) -> any NamedLock {
        let path = self.path + ".locks"
        let file = try translated(files.open(path, .readWriteOrCreateNoFollow), at: path)
        // If root creates the file, it must still belong to the vault's owner, who could not open it otherwise.
        if let owner = try? files.status(at: path) { try? files.setOwner(of: file, asOf: owner) }
        return NamedByteLock(lock: ByteLock(file, offset: number), path: path)
    }
}

private final class NamedByteLock: NamedLock {
    private let lock: ByteLock
    private let path: String

    init(lock: ByteLock, path: String) {
        self.lock = lock
        self.path = path
    }

    func tryLock() throws(LogError) -> Bool { try translated(lock.tryLock(), at: path) }
    // The lock cannot be lost, since the kernel holds it as long as the file is open.
    func check() throws(LogError) {}
}

package struct StoreFinding: Sendable {
    package let name: String
    /// The result of the check, in complete sentences.
    package let message: String
    /// Instructions for fixing the problem; nil if there are none.
    package let fix: String?

    package init(_ name: String, _ message: String, fix: String? = nil) {
        self.name = name
        self.message = message
        self.fix = fix
    }
}

/// This machine's copy of a vault on a server.
package struct KeptCopy: Sendable {
    package let path: String
    /// How many bytes of the vault are missing from the copy.
    package let missing: UInt64
    /// The time of the last contact with the server, in milliseconds since 1970.
    package let time: UInt64

    package init(path: String, missing: UInt64, time: UInt64) {
        self.path = path
        self.missing = missing
        self.time = time
    }

    package var isComplete: Bool { missing == 0 }
}
