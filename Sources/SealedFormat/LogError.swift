package import LinuxSystem
package import Sealing

/// An error of the sealed log, with a code, details, and the system's error number if there is one.
///
/// `detail` may contain offsets, sizes and paths, but never a name or value from the vault, or any part of a key.
package struct LogError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// There is no vault at the location. If the code is `gone`, this machine has seen one there.
        case missing, gone
        /// The path points to a folder, a named pipe, a socket or a device.
        case notAFile
        case exists
        /// The copy must not replace the vault. The copy lacks part of the vault (`notContained`), may lack part of it
        /// (`notCompared`), or is another vault or cannot be opened (`notACopy`). The detail is the vault's location.
        case notContained, notCompared, notACopy
        /// The caller passed an invalid argument, such as an invalid name, or a value or transaction that is too large.
        case invalid
        /// The vault has used up its sequence numbers, so no further header can be written.
        case usedUp
        /// There is no key file (`keyMissing`), or it cannot be read (`keyUnreadable`).
        case keyMissing, keyUnreadable
        /// Other users can read or write the key file (`keyExposed`), or can only read root's key file (`keyShared`).
        case keyExposed, keyShared
        /// A generated key file was mistyped, truncated or changed (`keyDamaged`), the file cannot serve as a key file
        /// (`keyUnsuitable`), or it opens no slot (`keyWrong`).
        case keyDamaged, keyUnsuitable, keyWrong
        /// The secret already opens a key slot (`slotExists`), or the slot was removed or replaced (`slotGone`).
        case slotExists, slotGone
        /// The slot that opened this machine's copy of the vault has been removed. Reopen the vault to get its keys.
        case keysChanged
        /// The change would remove the last member, so that changes would no longer be signed.
        case lastMember
        /// A needed passphrase cannot be typed (`passphraseNeeded`), or no typed one opens a slot (`passphraseWrong`).
        case passphraseNeeded, passphraseWrong
        /// The command that prints the key failed (`commandFailed`) or lacks the user's consent (`commandUntrusted`).
        case commandFailed, commandUntrusted
        /// An identity is needed (`identityMissing`), its file cannot be read (`identityUnreadable`), other users can
        /// read or write it (`identityExposed`), or the identity opens no slot or its plugin failed (`identityWrong`).
        /// If the identity opens no slot but may have opened the vault before, the code is `identityRemoved`.
        case identityMissing, identityUnreadable, identityExposed, identityWrong, identityRemoved
        /// A recipient's slot opened the vault, but this machine's pin is missing (`unpinned`) or differs (`pinWrong`).
        case unpinned, pinWrong
        /// The vault fails authentication or violates the format (`damaged`), or its format is newer (`newerFormat`).
        case damaged, newerFormat
        /// The location gives the vault's name, but the vault found there is bound to another name or to none.
        case otherName
        /// The copy that was to be merged is damaged.
        case copyDamaged
        /// According to the rollback memory, the vault is an older copy (`rolledBack`), has another history
        /// (`diverged`), or is another vault (`exchanged`).
        case rolledBack, diverged, exchanged
        /// The vault has members, but none owns this machine's device. The detail is the device as text, or empty.
        case notMember
        /// A file cannot be trusted, most often because it belongs to another user. The detail begins with its path.
        case untrustworthy
        /// This machine's signing key is unusable. The detail is a complete sentence.
        case deviceUnusable
        /// The access log is on but cannot be written or read.
        case accessLogUnusable
        case busy
        /// A system call failed, for example because of a full disk, a read-only file system or a missing permission.
        case unavailable
        /// No server responds (`unreachable`), or one refuses a request (`serverRefused`). The detail is a sentence.
        case unreachable, serverRefused
        /// A flush failed and the write could not be undone, so it may or may not be durable. If there is a detail but
        /// no system error, the detail is a complete sentence.
        case outcomeUnknown
        /// An entry is not in the state that the transaction expects.
        case conflict
        /// Another writer has appended to the log although this writer holds the lock.
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

    package init(_ error: SealingError) {
        switch error.code {
        case .outOfMemory: self.init(.outOfMemory)
        case .forged: self.init(.damaged, "a sealed box cannot be opened")
        default: self.init(.damaged, "a length out of bounds")
        }
    }

    package static func damaged(_ what: String, at offset: UInt64? = nil) -> LogError {
        LogError(.damaged, offset.map { "\(what) at byte \($0)" } ?? what)
    }

    /// This error with the code `outcomeUnknown`, for a write that could not be undone.
    package var ofUnknownOutcome: LogError { LogError(.outcomeUnknown, detail, systemError: systemError) }

    /// Whether the system lacked a resource, such as file descriptors. Such an error proves nothing about the vault.
    package var isOfTheSystem: Bool { SystemError.isShortage(systemError) }

    /// Returns the error to report when this machine's copy of a vault in a database cannot be opened. A damaged or
    /// older copy becomes `unreachable`, because it proves nothing about the vault itself.
    package func ofKept(_ location: String) -> LogError {
        let what = "This machine's copy of \(location)"
        switch code {
        case .damaged:
            return LogError(.unreachable, "\(what) is damaged: \(detail). Use the vault online to fix the copy.")
        case .rolledBack:
            let since = "a state that this machine has seen, perhaps through another URL"
            return LogError(.unreachable, "\(what) is older than \(since). Try again when the server can be reached.")
        default: return self
        }
    }

    /// Whether the failed call may succeed if it is repeated later or at another location.
    package var isPassing: Bool { [.busy, .unavailable, .unreachable, .serverRefused, .outcomeUnknown].contains(code) }

    package var isUnflushable: Bool { systemError.map { SystemError($0, "flush").isUnflushable } ?? false }

    package static func cut(at offset: UInt64) -> LogError {
        .damaged("the file is truncated", at: offset)
    }
}

// MARK: - Notices

/// A problem that the user should know about, although the operation succeeded. ``MemoryFolder`` throws it.
package enum Notice: Error, Hashable {
    /// Part of the rollback memory exists but is unusable. The string states its path and the reason.
    case memoryUnusable(String)
    /// A compaction that was due has failed, so dead bytes remain in the file.
    case compactionFailed(LogError)
    /// The local copy of a vault in a database has changes that the vault lacks, and was saved to a file at this path.
    case copyKept(String, isComplete: Bool)
    /// The vault is shown as it was at `since`, in milliseconds since 1970, because no server was contacted or none can
    /// be reached. The reason is a complete sentence.
    case offline(since: UInt64, reason: String?)
    /// A change is stored only on this machine until a server can be reached. It will then be merged into the vault.
    case changedApart
    /// This machine's clock is this many milliseconds ahead of the server's. A negative number means that it is behind.
    case clockDiffers(milliseconds: Int64)

    fileprivate var isOfMemory: Bool { if case .memoryUnusable = self { true } else { false } }
}

/// Notices that are collected and reported later, because no outside code may be called while a lock is held.
package final class NoticeBoard: Sendable {
    private struct State {
        var posted: [Notice] = []
        /// The number of posted notices that ``take()`` has already handled.
        var taken = 0
    }

    private let state = Mutex(State())
    /// Whether there may be new notices. They are rare, so each call first checks this flag, which requires no lock.
    private let hasNew = Atomic(false)

    package init() {}

    /// Adds a notice, unless the same notice has already been posted.
    package func post(_ notice: Notice) {
        state.withLock { state in if !state.posted.contains(notice) { state.posted.append(notice) } }
        hasNew.store(true, ordering: .releasing)
    }

    /// Returns the notices posted since the last call. Only the first one about unusable rollback memory is included.
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

/// Returns the result of a call. Converts a `SystemError` (at `path`) or a `SealingError` into a ``LogError``.
package func translated<Result: ~Copyable>(
    _ call: @autoclosure () throws(SystemError) -> Result, at path: String
) throws(LogError) -> Result { do { return try call() } catch { throw LogError(error, path) } }

package func translated<Result: ~Copyable>(_ call: @autoclosure () throws(SealingError) -> Result) throws(LogError)
    -> Result
{
    do { return try call() } catch { throw LogError(error) }
}

/// Returns the result of `call`, or nil if it fails with `code`.
package func unless<Result: ~Copyable>(
    _ code: LogError.Code, _ call: @autoclosure () throws(LogError) -> Result
) throws(LogError) -> Result? {
    do { return try call() } catch {
        guard error.code == code else { throw error }
        return nil
    }
}

extension FolderLock {
    /// Acquires the lock of the folder in which a file will be created. Throws `busy` or `unavailable`.
    package static func acquire(
        forFile path: String, in fileSystem: any FileSystem, until deadline: Deadline
    ) throws(LogError) -> FolderLock {
        try translated(acquire(ofFile: path, in: fileSystem, until: deadline), at: path.parentFolder)
    }
}
