private import Glibc

/// A system call that failed.
package struct SystemError: Error, Hashable, Sendable {
    /// The value of `errno`.
    package let number: Int32
    /// The action that failed, as the start of a sentence: "read", "rename".
    package let call: String

    package init(_ number: Int32, _ call: String) {
        self.number = number
        self.call = call
    }

    /// Returns the system's description of an error.
    package static func words(for number: Int32) -> String {
        // Safe with threads since glibc 2.32.
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }
}

extension SystemError {
    package var isMissing: Bool { number == ENOENT }
    package var isNameTooLong: Bool { number == ENAMETOOLONG }
    package var isExisting: Bool { number == EEXIST }
    package var isRefused: Bool { number == EACCES || number == EPERM }
    package var isReadOnly: Bool { number == EROFS }
    /// Whether another process held a lock for too long.
    package var isBusy: Bool { number == EWOULDBLOCK }
    package var isTooLarge: Bool { number == EFBIG }

    /// What is at the path, if that is why it cannot be read as a file; a part of a sentence.
    package var kindOfNoFile: String? {
        switch number {
        case EISDIR: "a folder"
        case EINVAL: "a named pipe, a socket or a device"
        default: nil
        }
    }

    /// What to do about it, if that is known.
    package static func advice(for number: Int32) -> String? {
        switch number {
        case ENOSPC, EDQUOT: "Nothing was changed; make room and try again."
        case EROFS: "Nothing was changed; the file system is mounted read-only."
        case EACCES, EPERM: "Check its owner and mode."
        case EIO: "Check the disk."
        default: nil
        }
    }
}
