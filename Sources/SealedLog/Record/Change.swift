package import Sealing

/// A value that has been sealed, but not yet written.
package struct SealedValue: Sendable {
    let nonce: Nonce
    let length: Int
    let box: [UInt8]
    let kind: UInt8
}

/// One change of a transaction, or one entry that it relies on.
package struct Change: Sendable {
    /// What the entry has to be when the transaction is written. Otherwise this transaction fails, and no other.
    package enum Expectation: Sendable {
        case anything
        /// Error `exists` otherwise.
        case absent
        /// As it was when it was read, by the nonce of its value; nil for none. Error `conflict` otherwise.
        case unchanged(Nonce?)
    }

    package enum Action: Sendable {
        /// nil attributes keep those of the entry.
        case set(SealedValue, attributes: [Attribute]?)
        case remove
        /// Changes nothing.
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
