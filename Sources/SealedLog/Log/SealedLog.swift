import LinuxSystem
import Sealing

/// One vault file, for all of a process: the same file opened twice is one log.
///
/// Reads follow the file without a lock. Writes of several threads are gathered: the first to get the writer's lock
/// writes one record for all that wait.
package final class SealedLog: Sendable {
    /// How to open a log.
    package struct Options: Sendable {
        /// How long to wait for other processes.
        package var lockTimeout: Duration
        /// Alarms of the rollback memory that the user has accepted: `rolledBack`, `diverged`, `exchanged`.
        package var accepted: [LogError.Code]
        /// The folder of the rollback memory; nil for none.
        package var memoryFolder: String?

        package init(
            lockTimeout: Duration = .seconds(10), accepted: [LogError.Code] = [], memoryFolder: String? = nil
        ) {
            self.lockTimeout = lockTimeout
            self.accepted = accepted
            self.memoryFolder = memoryFolder
        }
    }

    /// State that belongs to the thread that writes.
    struct Writer: Sendable {
        /// Whether the outcome of a write is unknown: nothing more is written.
        var isPoisoned = false
        /// The file whose name this log has flushed, or knows to be flushed.
        var durableFile: CheckpointFile?
        /// The fingerprint of the file whose name the memory knows to be durable.
        var rememberedFingerprint: Authenticator?
        /// Whether this log has looked for what a killed compaction may have left.
        var hasTidied = false
        /// After a failed compaction: the sequence number before which there is no other try.
        var compactAfter: UInt64 = 0
    }

    let keys: KeyRing
    let vaultID: [UInt8]
    let memory: RollbackMemory?
    let notices: NoticeBoard
    let needsLockToRead: Bool
    /// How long readers that need the lock wait for it.
    let lockTimeout: Duration
    /// What the memory held when the user accepted the file in spite of it: the memory may be read-only.
    let overruled: Mutex<LogPosition?>
    let view: Mutex<LogView>
    let writer: Mutex<Writer>
    let queue = Mutex<[PendingCommit]>([])
    let scratch = Mutex<[Scratch]>([])

    init(_ opened: Opened) {
        keys = opened.view.keys
        vaultID = opened.view.header.vaultID
        memory = opened.memory
        notices = opened.notices
        needsLockToRead = opened.view.store.needsLockToRead
        lockTimeout = opened.lockTimeout
        overruled = Mutex(opened.overruled)
        view = Mutex(opened.view)
        writer = Mutex(Writer(rememberedFingerprint: opened.rememberedFingerprint))
    }

    /// Returns the notices since the last time.
    package func takeNotices() -> [Notice] { notices.take() }

    /// Whether the system let the keys be locked against swapping.
    package var keysAreLockedInMemory: Bool { keys.isLockedInMemory }

    /// The time in milliseconds since 1970.
    static var now: UInt64 { UInt64(max(Clock.realTime, 0)) / 1_000_000 }
}
