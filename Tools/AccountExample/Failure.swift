import Foundation
import Vault
import VaultAccount

/// Tells why a command failed: an exit code for scripts and a sentence for people.
struct Failure: Error {
    enum Code: Int32 {
        case other = 1
        case usage = 2
        case notLoggedIn = 3
        case rejected = 4
        case locked = 5
        case unreachable = 8
    }

    let code: Code
    let sentence: String

    init(_ code: Code, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }
}

extension Failure {
    /// Ends the program.
    func end() -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("AccountExample: \(sentence)\n".utf8))
        exit(code.rawValue)
    }
}

extension Failure {
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as AccountError: self.init(error)
        case let error as AccountServiceError:
            self.init(error.kind == .rejected ? AccountError.rejected(error) : .unreachable(error))
        default: self.init(.other, "\(error)")
        }
    }

    private init(_ error: AccountError) {
        let code: Code =
            switch error {
            case .rejected: .rejected
            case .unreachable: .unreachable
            case .notLoggedIn, .expired: .notLoggedIn
            case .switched, .cancelled: .other
            case .store(let error): error.code == .locked ? .locked : .other
            }
        self.init(code, error.description)
    }
}
