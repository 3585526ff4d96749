package import LinuxSystem
import Sealing

/// A failure of the sealed log: its kind, details, and the system's error number if there is one.
///
/// `detail` contains offsets, sizes and paths, but never a name or value of the vault, nor anything of a key.
package struct LogError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// There is no file at the path. It is `gone` if this machine remembers a vault there.
        case missing, gone
        /// There is a folder, a named pipe, a socket or a device at the path.
        case notAFile
        case exists
        /// A vault is not replaced by a copy that lacks part of it (`notContained`), or if it is unknown whether it
        /// does (`notCompared`), or if it is another vault or cannot be opened (`notACopy`). The detail is its
        /// location.
        case notContained, notCompared, notACopy
        /// The caller made a mistake: a name, a value or a transaction is out of bounds.
        case invalid
        /// The vault has used up its sequence numbers: no further header is possible.
        case usedUp
        /// There is no key file, or it cannot be read.
        case keyMissing, keyUnreadable
        /// Others can read or write the key file. It is `keyShared` if the file belongs to root and they can only read
        /// it.
        case keyExposed, keyShared
        /// The key file is a generated one, but was mistyped, cut or changed (`keyDamaged`). It cannot be a key
        /// (`keyUnsuitable`). It opens no slot (`keyWrong`).
        case keyDamaged, keyUnsuitable, keyWrong
        /// The secret already opens a key slot (`slotExists`). Another process has removed or replaced the slot
        /// (`slotGone`).
        case slotExists, slotGone
        /// The slot that has opened this machine's copy of the vault was removed. Opening the vault again shows which
        /// keys it has.
        case keysChanged
        /// A passphrase is needed but cannot be prompted for (`passphraseNeeded`). None of the typed ones opens a slot
        /// (`passphraseWrong`).
        case passphraseNeeded, passphraseWrong
        /// The command whose output is the key has failed (`commandFailed`). The user has not agreed to run it
        /// (`commandUntrusted`).
        case commandFailed, commandUntrusted
        /// An identity is needed (`identityMissing`). Its file cannot be read (`identityUnreadable`). Others can read
        /// or write it (`identityExposed`). It opens no slot, or its plugin failed (`identityWrong`). It opens no slot
        /// of a vault that it may have opened before (`identityRemoved`).
        case identityMissing, identityUnreadable, identityExposed, identityWrong, identityRemoved
        /// A recipient's slot opened a vault that this machine does not remember (`unpinned`), or that differs from the
        /// one it remembers with that ID (`pinWrong`).
        case unpinned, pinWrong
        /// The file does not authenticate or violates the format (`damaged`). It has a later version of the format
        /// (`newerFormat`).
        case damaged, newerFormat
        /// A location shows a vault under a name that is not its own. Its right name is unknown.
        case otherName
        /// Another copy of the vault, which was to be merged, is damaged.
        case copyDamaged
        /// An alarm of the rollback memory: an older copy, another history, or another vault.
        case rolledBack, diverged, exchanged
        /// The vault has members, and this machine's device belongs to none of them. The detail is the device's text,
        /// or empty.
        case notMember
        /// A file cannot be trusted, most often because it belongs to another user. The detail begins with its path.
        case untrustworthy
        /// The key with which this machine signs cannot be used. The detail is a whole sentence.
        case deviceUnusable
        /// The access log is on but cannot be written or read.
        case accessLogUnusable
        case busy
        /// The system refused a call: the disk is full, the file system is read-only, or a permission is missing.
        case unavailable
        /// No server answers (`unreachable`), or a server refuses (`serverRefused`). The detail is a whole sentence.
        case unreachable, serverRefused
        /// An fsync failed and could not be undone: the write may or may not be durable. If there is a detail but no
        /// system error, the detail is a whole sentence.
        case outcomeUnknown
        /// An entry is not in the state that the transaction expects.
        case conflict
        /// Another writer has appended to the log meanwhile, in spite of the lock.
        case overtaken
        case outOfMemory

        package static let alarms: [Code] = [.rolledBack, .diverged, .exchanged]
    }

    package let code: Code
    package let detail: String
    package let systemError: Int32?

    package init(_ code: Code, _ detail: String = "", systemError: Int32? = nil) {
        self.code = code
        self.detail = detail
        self.systemError = systemError
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

    /// The same failure as that of a write that could not be undone.
    var ofUnknownOutcome: LogError { LogError(.outcomeUnknown, detail, systemError: systemError) }

    /// Whether the system lacked something, such as descriptors. Such a failure proves nothing about the vault.
    package var isOfTheSystem: Bool { SystemError.isShortage(systemError) }

    /// Returns the failure as that of this machine's copy of a vault in a database. It proves nothing about the vault.
    package func ofKept(_ location: String) -> LogError {
        let what = "This machine's copy of \(location)"
        switch code {
        case .damaged:
            return LogError(.unreachable, "\(what) is damaged: \(detail). Use it once with the server to fix the copy.")
        case .rolledBack:
            let since = "what this machine has seen of the vault since, perhaps by another URL"
            return LogError(.unreachable, "\(what) is older than \(since). Use the vault with the server.")
        default: return self
        }
    }

    /// Whether the same call may succeed later, or at another location.
    package var isPassing: Bool { [.busy, .unavailable, .unreachable, .serverRefused, .outcomeUnknown].contains(code) }

    var isUnflushable: Bool { systemError.map { SystemError($0, "flush").isUnflushable } ?? false }

    static func cut(at offset: UInt64) -> LogError { .damaged("the file ends too early; it was cut", at: offset) }
}

// MARK: - Notices

/// A problem that has not failed an operation but that the user should know. ``MemoryFolder`` throws it.
package enum Notice: Error, Hashable {
    /// A part of the rollback memory exists but cannot be used. The text has its path and the reason.
    case memoryUnusable(String)
    /// A compaction that was due has failed. Dead bytes stay in the file.
    case compactionFailed(LogError)
    /// The copy of a vault in a database that the vault does not include was saved to a file. The text is its path.
    case copyKept(String, isComplete: Bool)
    /// The vault is shown as it was at that time, in milliseconds since 1970, because no server was contacted or none
    /// can be reached. The reason is a whole sentence.
    case offline(since: UInt64, reason: String?)
    /// A change is kept on this machine until it can be merged.
    case changedApart
    /// This machine's clock is ahead of the server's by this time, or behind it.
    case clockDiffers(milliseconds: Int64)

    fileprivate var isOfMemory: Bool { if case .memoryUnusable = self { true } else { false } }
}

/// Gathers notices until they can be reported: no outside code is called while a lock is held.
package final class NoticeBoard: Sendable {
    private struct State {
        var posted: [Notice] = []
        /// The number of notices that were taken.
        var taken = 0
    }

    private let state = Mutex(State())
    /// Every call checks for notices, and there is hardly ever one. Threads need not wait for each other to find that
    /// out.
    private let hasNew = Atomic(false)

    package init() {}

    /// Adds a notice, unless it was posted here before.
    package func post(_ notice: Notice) {
        state.withLock { state in if !state.posted.contains(notice) { state.posted.append(notice) } }
        hasNew.store(true, ordering: .releasing)
    }

    /// Returns the notices posted since the last call. If several parts of the memory cannot be used, only the first is
    /// returned.
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
) throws(LogError) -> Result { do { return try call() } catch { throw LogError(error, path) } }

func translated<Result: ~Copyable>(_ call: @autoclosure () throws(SealingError) -> Result) throws(LogError) -> Result {
    do { return try call() } catch { throw LogError(error) }
}

/// Returns nil if a call fails with this code.
func unless<Result: ~Copyable>(
    _ code: LogError.Code, _ call: @autoclosure () throws(LogError) -> Result
) throws(LogError) -> Result? {
    do { return try call() } catch {
        guard error.code == code else { throw error }
        return nil
    }
}

extension FolderLock {
    /// Waits for the lock of the folder in which a file will be created. Throws `busy`, `unavailable`.
    package static func acquire(
        forFile path: String, in fileSystem: any FileSystem, until deadline: Deadline
    ) throws(LogError) -> FolderLock {
        try translated(acquire(ofFile: path, in: fileSystem, until: deadline), at: path.parentFolder)
    }
}
