import Sealing

/// The reason why an age recipient, identity or file cannot be used.
///
/// `detail` is a sentence fragment. It never contains any part of an identity, a file key or a plaintext.
package struct AgeError: Error, Hashable, Sendable {
    /// The kind of failure. More kinds may be added.
    package struct Code: Hashable, Sendable {
        private enum Kind { case malformed, noMatch, damaged, plugin, outOfMemory }
        private let kind: Kind

        /// A recipient, identity, stanza or file is malformed, or its kind is not supported.
        package static let malformed = Code(kind: .malformed)
        /// None of the identities can open the file.
        package static let noMatch = Code(kind: .noMatch)
        /// The header or the payload failed authentication, because the file was changed or truncated.
        package static let damaged = Code(kind: .damaged)
        /// A plugin is missing, has failed, or has reported an error. The detail quotes a reported error.
        package static let plugin = Code(kind: .plugin)
        /// Guarded memory cannot be allocated.
        package static let outOfMemory = Code(kind: .outOfMemory)
    }

    package let code: Code
    package let detail: String
    /// The `errno` of the system call that failed; nil if no system call failed.
    package let systemError: Int32?

    package init(_ code: Code, _ detail: String = "", systemError: Int32? = nil) {
        self.code = code
        self.detail = detail
        self.systemError = systemError
    }
}

extension AgeError {
    static func malformed(_ detail: String) -> AgeError { AgeError(.malformed, detail) }

    init(_ error: SealingError) {
        switch error.code {
        case .outOfMemory: self.init(.outOfMemory, "there is no guarded memory left")
        case .forged: self.init(.damaged, "an encrypted part cannot be decrypted")
        default: self.init(.malformed, "a length out of bounds")
        }
    }
}

func translated<Result: ~Copyable>(_ call: @autoclosure () throws(SealingError) -> Result) throws(AgeError) -> Result {
    do { return try call() } catch { throw AgeError(error) }
}
