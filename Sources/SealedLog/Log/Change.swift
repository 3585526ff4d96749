import LinuxSystem
package import Sealing

/// A value that has been sealed, and lies nowhere yet.
package struct SealedValue: Sendable {
    let nonce: Nonce
    let length: Int
    let box: [UInt8]
    let kind: UInt8
}

/// One change that a transaction makes, or one thing that it relies on.
package struct Change: Sendable {
    /// What the name has to be when the transaction is written; otherwise it fails, and it alone.
    package enum Expectation: Sendable {
        case anything
        /// Error `exists` otherwise.
        case absent
        /// As it was when it was read: the nonce of its value, nil for none. Error `conflict` otherwise.
        case unchanged(Nonce?)
    }

    package enum Action: Sendable {
        /// nil attributes: those that the entry has.
        case set(SealedValue, attributes: [Attribute]?)
        case remove
        /// Nothing is changed.
        case rely
    }

    package let name: EntryName
    package let expectation: Expectation
    package let action: Action

    package init(_ name: EntryName, _ expectation: Expectation, _ action: Action) {
        self.name = name
        self.expectation = expectation
        self.action = action
    }
}

/// A transaction on its way into the log.
final class PendingCommit: Sendable {
    let changes: [Change]
    let deadline: Deadline
    private let outcome = Mutex<Result<Void, LogError>?>(nil)

    init(_ changes: [Change], deadline: Deadline) {
        self.changes = changes
        self.deadline = deadline
    }

    var result: Result<Void, LogError>? {
        outcome.withLock { $0 }
    }

    func finish(_ result: Result<Void, LogError>) {
        outcome.withLock { $0 = $0 ?? result }
    }
}
