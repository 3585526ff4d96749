private import Glibc

/// A system call that failed.
package struct SystemError: Error, Hashable, Sendable {
    /// The value of `errno`.
    package let number: Int32
    /// What was being done, as the start of a sentence: "read", "rename".
    package let call: String

    package init(_ number: Int32, _ call: String) {
        self.number = number
        self.call = call
    }

    /// The system's words for it.
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

    /// What mends it, where that can be told.
    package var advice: String? {
        switch number {
        case ENOSPC, EDQUOT: "Nothing was changed; make room and try again."
        case EROFS: "Nothing was changed; the file system is mounted read-only."
        case EACCES, EPERM: "Check who owns it and its mode."
        case EIO: "Check the disk."
        default: nil
        }
    }
}
