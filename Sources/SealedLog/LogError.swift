package import LinuxSystem
import Sealing

/// A failure of the sealed log: its kind, details, and the system's error number if there is one.
///
/// `detail` contains offsets, sizes and paths, but never a name or value of the vault, nor anything of a key.
package struct LogError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// There is no file at the path; `gone` if this machine remembers a vault there.
        case missing, gone
        /// There is a folder, a named pipe, a socket or a device at the path.
        case notAFile
        /// There is already a file at the path.
        case exists
        /// A vault is not replaced by a copy that lacks something of it; `notCompared` if nothing tells whether it
        /// does; `notACopy` if it is another vault or cannot be opened. The detail is where it is.
        case notContained, notCompared, notACopy
        /// The caller's mistake: a name, a value or a transaction out of bounds.
        case invalid
        /// The vault has used up its sequence numbers: no header can follow.
        case usedUp
        /// There is no key file, or it cannot be read.
        case keyMissing, keyUnreadable
        /// Others can read or write the key file; `keyShared` if it belongs to root, and they can only read it.
        case keyExposed, keyShared
        /// The key file is a generated one, but mistyped, cut or changed; it cannot be a key; it opens no slot.
        case keyDamaged, keyUnsuitable, keyWrong
        /// The secret opens a key slot already; the slot is no more: another process has removed or replaced it.
        case slotExists, slotGone
        /// The slot is no more that has opened what this machine had kept of the vault. Opening it again tells which.
        case keysChanged
        /// A passphrase is needed and cannot be asked for; none of those that were typed opens a slot.
        case passphraseNeeded, passphraseWrong
        /// The command whose output is the key has failed; the person has not agreed to run it.
        case commandFailed, commandUntrusted
        /// An identity is needed; its file cannot be read; others can read or write it; it opens no slot, or its plugin
        /// failed; it opens no slot of a vault that it may have opened before.
        case identityMissing, identityUnreadable, identityExposed, identityWrong, identityRemoved
        /// A recipient's slot opened a vault that this machine does not know; it knows another one with that id.
        case unpinned, pinWrong
        /// The file does not authenticate or violates the format, or it has a later version of the format.
        case damaged, newerFormat
        /// A place shows a vault under a name that is not its own. Nothing tells which one is.
        case otherName
        /// The same of another copy of the vault, which was to be merged.
        case copyDamaged
        /// An alarm of the rollback memory: an older copy, another history, another vault.
        case rolledBack, diverged, exchanged
        /// The vault has members, and this machine's device is none of theirs: the detail is its text, or empty.
        case notMember
        /// What is to be believed cannot be: another user's file, above all. The detail begins with its path.
        case untrustworthy
        /// The key by which this machine signs cannot be used. The detail is a whole sentence.
        case deviceUnusable
        /// The access log, which is on, cannot be written or read.
        case accessLogUnusable
        /// The lock was not free in time.
        case busy
        /// The system refused: a full disk, a read-only file system, a permission.
        case unavailable
        /// The server does not answer; it refuses. The detail is a whole sentence.
        case unreachable, serverRefused
        /// A failed fsync that could not be undone: the write may or may not be durable. With a detail and no number of
        /// the system's, the detail is a whole sentence.
        case outcomeUnknown
        /// An entry is not as the transaction expects it.
        case conflict
        /// Another writer has appended to the log meanwhile, in spite of the lock.
        case overtaken
        /// Guarded memory cannot be allocated.
        case outOfMemory

        package static let alarms: [Code] = [.rolledBack, .diverged, .exchanged]
    }

    package let code: Code
    package let detail: String
    package let systemError: Int32?

    package init(_ code: Code, _ detail: String = "", systemError: Int32? = nil) {
        (self.code, self.detail, self.systemError) = (code, detail, systemError)
    }
}

extension LogError {
    package init(_ error: SystemError, _ path: String) {
        let refused = LogError(.unavailable, "\(error.call) \(path)", systemError: error.number)
        self = error.isBusy ? LogError(.busy, path) : refused
    }

    init(_ error: SealingError) {
        switch error.code {
        case .outOfMemory: self.init(.outOfMemory)
        case .forged: self.init(.damaged, "a sealed box does not open")
        default: self.init(.damaged, "a length out of bounds")
        }
    }

    package static func damaged(_ what: String, at offset: UInt64? = nil) -> LogError {
        LogError(.damaged, offset.map { "\(what) at byte \($0)" } ?? what)
    }

    /// The same failure, of a write that could not be undone.
    var ofUnknownOutcome: LogError { LogError(.outcomeUnknown, detail, systemError: systemError) }

    /// Whether the system lacked something, such as descriptors: that tells nothing of what was looked for.
    package var isOfTheSystem: Bool { SystemError.isShortage(systemError) }

    /// The same failure, of what this machine has kept of a vault in a database: that proves nothing of the vault.
    package func ofKept(_ location: String) -> LogError {
        let what = "What this machine has kept of \(location)"
        switch code {
        case .damaged:
            return LogError(.unreachable, "\(what) is damaged: \(detail). Use it once with the server to fix the copy.")
        case .rolledBack:
            let since = "what it has seen of the vault since, perhaps by another URL"
            return LogError(.unreachable, "\(what) is older than \(since). Use it with the server.")
        default: return self
        }
    }

    /// Whether the same may succeed later, or in another place.
    package var isPassing: Bool {
        [.busy, .unavailable, .unreachable, .serverRefused, .outcomeUnknown].contains(code)
    }

    var isUnflushable: Bool { systemError.map { SystemError($0, "flush").isUnflushable } ?? false }

    static func cut(at offset: UInt64) -> LogError { .damaged("the file ends too early; it was cut", at: offset) }
}

// MARK: - Notices

/// A problem that did not keep an operation from succeeding, and that the user should know. ``MemoryFolder`` throws it.
package enum Notice: Error, Hashable {
    /// A part of the rollback memory exists and cannot be used: which one, and why.
    case memoryUnusable(String)
    /// A compaction that was due has failed: dead bytes stay in the file.
    case compactionFailed(LogError)
    /// What this machine had kept of a vault in a database, and the vault lacks, is in a file now: its path.
    case copyKept(String, isComplete: Bool)
    /// The vault is as it was known then, in milliseconds since 1970: no server was asked, or none can be reached. The
    /// reason says that in a sentence.
    case offline(since: UInt64, reason: String?)
    /// What was changed is kept on this machine, until it can be merged.
    case changedApart
    /// How far this machine's clock is ahead of the server's, or behind it.
    case clockDiffers(milliseconds: Int64)

    fileprivate var isOfMemory: Bool { if case .memoryUnusable = self { true } else { false } }
}

/// Gathers notices until they can be told: no outside code is called while a lock is held.
package final class NoticeBoard: Sendable {
    private struct State {
        var posted: [Notice] = []
        /// How many of them were taken.
        var taken = 0
    }

    private let state = Mutex(State())
    /// Every call looks for notices, and there is hardly ever one. Threads need not wait for each other to see that.
    private let hasNew = Atomic(false)

    package init() {}

    /// Adds a notice, unless it was posted here before.
    package func post(_ notice: Notice) {
        state.withLock { state in
            if !state.posted.contains(notice) { state.posted.append(notice) }
        }
        hasNew.store(true, ordering: .releasing)
    }

    /// Returns what was posted since the last time. Of the memory's parts that cannot be used, the first is enough.
    package func take() -> [Notice] {
        guard hasNew.load(ordering: .acquiring), hasNew.exchange(false, ordering: .acquiringAndReleasing) else {
            return []
        }
        var notices = state.withLock { state in
            defer { state.taken = state.posted.count }
            return Array(state.posted[state.taken...])
        }
        guard !notices.isEmpty else { return [] }
        let firstOfMemory = notices.first(where: \.isOfMemory)
        notices.removeAll { $0.isOfMemory && $0 != firstOfMemory }
        return notices
    }
}

// MARK: - Translation

/// Translates the error of a system call about `path`, or of a call to Sealing.
func translated<Result: ~Copyable>(
    _ call: @autoclosure () throws(SystemError) -> Result, at path: String
) throws(LogError) -> Result {
    do { return try call() } catch { throw LogError(error, path) }
}

func translated<Result: ~Copyable>(_ call: @autoclosure () throws(SealingError) -> Result) throws(LogError) -> Result {
    do { return try call() } catch { throw LogError(error) }
}

extension FolderLock {
    /// Waits for the lock of the folder in which a file will be created. Throws `busy`, `unavailable`.
    package static func acquire(
        forFile path: String, in fileSystem: any FileSystem, until deadline: Deadline
    ) throws(LogError) -> FolderLock {
        try translated(acquire(ofFile: path, in: fileSystem, until: deadline), at: path.parentFolder)
    }
}
