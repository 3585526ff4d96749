package import LinuxSystem

/// The location of a vault's bytes. It opens and creates the store there.
package protocol StoreLocation: Sendable {
    /// The name of the location in messages and in the rollback memory.
    var path: String { get }
    /// The hash of the name that a vault there must be bound to; nil if any name is allowed.
    var vaultName: [UInt8]? { get }
    /// The file system of the rollback memory.
    var files: any FileSystem { get }

    /// Opens the store. Throws `missing` if there is none, `gone` if this process has found one there before.
    func open(_ way: StoreOpening) throws(LogError) -> any RecordStore
    func exists() throws(LogError) -> Bool
    /// Creates an empty store that gets its location once it is published.
    func createUnpublished() throws(LogError) -> any NewStore
    /// Creates an empty store and takes its lock. The lock shows that no killed process has left the store. Throws
    /// `busy` while another one is being written for the location.
    func createLocked() throws(LogError) -> any NewStore
    /// Calls `onChange` from a thread of its own whenever the store may have changed, until the result is released.
    func watch(onChange: @escaping @Sendable () -> Void) throws(LogError) -> any AnyObject & Sendable
    /// Returns one of many named locks, which is not taken yet. These locks have no meaning for the store itself.
    ///
    /// - Parameter number: the number of the lock, below 2^62.
    func namedLock(_ number: Int64) throws(LogError) -> any NamedLock
    /// Returns the problems since the last call that have not failed an operation.
    func takeNotices() -> [Notice]
    /// Details for users and administrators; nil if there are none, as for a file.
    var report: (any StoreReport)? { get }
    /// Returns a copy of the vault with changes that were made while no server answered and wait to be merged; nil if
    /// there is none.
    func pending() throws(LogError) -> FileLocation?
}

/// Details of a location on a server, for users and administrators.
package protocol StoreReport {
    /// The statements with which an administrator prepares the database if users may not.
    var preparation: String { get }
    /// Checks the server and describes the results to the user.
    func findings() throws(LogError) -> [StoreFinding]
    /// The milliseconds by which this machine's clock is ahead of the server's; nil if the server's is unknown.
    var clockDifference: Int64? { get }
    var keptCopy: KeptCopy? { get }
}

/// The way in which a store is opened.
package enum StoreOpening: Sendable {
    /// Possibly from the copy on this machine, without a connection. The log's end is checked afterwards.
    case quick
    /// In its present state. The copy on this machine is not trusted.
    case fresh
    /// For reading only, skipping parts that cannot be read.
    case damaged
}

/// A lock between processes. After a successful attempt, it is held during the lifetime of this object.
package protocol NamedLock: AnyObject, Sendable {
    /// Returns false if another process or thread holds the lock.
    func tryLock() throws(LogError) -> Bool
    /// Throws if the lock was taken and has been lost since: another process may hold it.
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
    /// The suffix of files with changes that wait for a server.
    package static let pendingEnding = "-offline.vault"
    /// The suffix of files of which a merge has refused some changes.
    package static let refusedEnding = ".refused.vault"

    package let path: String
    package let files: any FileSystem
    private let target: (any StoreLocation)?
    private let lockTimeout: Duration

    /// - Parameters:
    ///   - path: a path without symbolic links, which a rename would replace.
    ///   - target: the location that the changes in the file are to be merged into, if this machine keeps them apart
    ///     until then.
    ///   - lockTimeout: the time for which a reader on a remote file system waits for the lock.
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

    /// Returns the lock of one byte of the file `VAULT.locks`, which is created beside the vault and stays empty. It is
    /// never removed, since two processes could then lock different files.
    package func namedLock(_ number: Int64) throws(LogError) -> any NamedLock {
        let path = self.path + ".locks"
        let file = try translated(files.open(path, .readWriteOrCreateNoFollow), at: path)
        // A file that root creates must belong to the vault's owner.
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
    // The kernel keeps the lock while the file is open.
    func check() throws(LogError) {}
}

package struct StoreFinding: Sendable {
    package let name: String
    /// The result in whole sentences.
    package let message: String
    /// The fix; nil if nothing is wrong.
    package let fix: String?

    package init(_ name: String, _ message: String, fix: String? = nil) {
        self.name = name
        self.message = message
        self.fix = fix
    }
}

/// The copy that this machine keeps of a vault on a server.
package struct KeptCopy: Sendable {
    package let path: String
    /// The number of bytes of the vault that are missing.
    package let missing: UInt64
    /// The time of the copy in milliseconds since 1970.
    package let time: UInt64

    package init(path: String, missing: UInt64, time: UInt64) {
        self.path = path
        self.missing = missing
        self.time = time
    }

    package var isComplete: Bool { missing == 0 }
}
