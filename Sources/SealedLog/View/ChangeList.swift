import LinuxSystem
package import Sealing

package struct Change: Sendable {
    /// A condition on a name's value when the transaction is written. If it is not met, only this transaction fails.
    package enum Expectation: Sendable {
        case anything
        /// The name must have no value. Otherwise the error is `exists`.
        case absent
        /// The name's value must still have this nonce. If the nonce is nil, the name must still have no value.
        /// Otherwise the error is `conflict`.
        case unchanged(Nonce?)

        func check(_ present: Entry.Content?) throws(LogError) {
            switch self {
            case .absent where present != nil: throw LogError(.exists)
            case .unchanged(let nonce) where present?.current.nonce != nonce: throw LogError(.conflict)
            case .anything, .absent, .unchanged: break
            }
        }
    }

    package enum Action: Sendable {
        /// Sets a value. If `attributes` is nil, the entry keeps its own; if `expiry` is nil, it no longer expires.
        case set(SealedValue, attributes: [Attribute]?, expiry: UInt64? = nil)
        case remove
        /// Makes an earlier version the current one. The error is `conflict` if the name has no such version.
        case restore(OpenedVersion)

        package var presentValue: SealedValue? {
            guard case .set(let value, _, let expiry) = self else { return nil }
            return expiry.map { $0 <= Clock.milliseconds } ?? false ? nil : value
        }
    }

    package let name: EntryName
    package let expectation: Expectation
    package let action: Action
    /// Whether to drop the entry's history, even if the entry has already been removed.
    package let forgets: Bool

    package init(_ name: EntryName, _ expectation: Expectation, _ action: Action, forgets: Bool = false) {
        self.name = name
        self.expectation = expectation
        self.action = action
        self.forgets = forgets
    }
}

/// A version whose value has been opened successfully. Only such a version may be restored.
package struct OpenedVersion: Sendable {
    let nonce: Nonce

    /// Opens the value to check it. Throws `damaged` if that fails.
    init(_ sealed: SealedValue) throws(LogError) {
        _ = try sealed.opened()
        nonce = sealed.version.nonce
    }

    /// Recreates a version that was checked before it was encoded in a ``ChangeList``.
    fileprivate init(known nonce: Nonce) { self.nonce = nonce }
}

/// A transaction's changes in order, and the conditions under which they are written.
package struct ChangeList: Sendable {
    /// The nonces of the values that the transaction has read, by name; nil if the name had no value. If the value of a
    /// name has changed since it was read, the error is `conflict`.
    package var conditions: [EntryName: Nonce?] = [:]
    /// The key of an attribute that an entry keeps when a value is set or restored; nil if there is no such attribute.
    package var keptAttribute: String?
    /// By entry name, the value that ``keptAttribute`` gets if a restored version would otherwise lack the attribute.
    package var keptValues: [EntryName: String] = [:]
    private(set) var cells = NamedCells()
    /// The sealed boxes of the values to set, one after the other.
    private(set) var boxes: [UInt8] = []
    /// The keys that sealed the values. Each element applies to changes from number `first` to before the next `first`.
    private var sealers: [(first: Int, keys: KeyRing)] = []

    package init(_ changes: [Change] = []) { for change in changes { append(change) } }

    package var isEmpty: Bool { cells.count == 0 && conditions.isEmpty }

    package mutating func append(_ change: Change) {
        cells.append { $0.change(change, offset: boxes.count) }
        guard case .set(let value, _, _) = change.action else { return }
        // The first box is assigned rather than appended, because it may be large, and there may be no others.
        if boxes.isEmpty { boxes = Array(value.box) } else { boxes += value.box }
        if sealers.last?.keys !== value.keys { sealers.append((count - 1, value.keys)) }
    }

    /// Returns this list with all values sealed under `keys`. A rotation may have replaced the keys that sealed them.
    func sealed(under keys: KeyRing) throws(LogError) -> ChangeList {
        if sealers.allSatisfy({ $0.keys === keys }) { return self }
        var list = ChangeList()
        var nonces = NonceSource()
        list.conditions = conditions
        list.keptAttribute = keptAttribute
        list.keptValues = keptValues
        for number in 0..<count {
            var change = self[number]
            if case .set(let value, let attributes, let expiry) = change.action, value.keys !== keys {
                let value = try value.resealed(under: keys, nonce: nonces.next())
                change = Change(
                    change.name, change.expectation, .set(value, attributes: attributes, expiry: expiry),
                    forgets: change.forgets)
            }
            list.append(change)
        }
        return list
    }

    package func newest(_ name: EntryName) -> Change? { name.bytes.withUnsafeBytes(cells.newest).map { self[$0] } }

    package var count: Int { cells.count }

    package subscript(number: Int) -> Change {
        var reader = cells.reader(number)
        let sealer = sealers.last { $0.first <= number }
        return reader.own { (reader) throws(Malformed) in try reader.change(boxes, sealer?.keys) }
    }
}

// This encoding of a change list is used only within a process. Files never contain it.

private enum Tag {
    static let remove: UInt8 = 0
    static let set: UInt8 = 1
    static let attributes: UInt8 = 2
    static let expiry: UInt8 = 4
    static let absent: UInt8 = 8
    static let unchangedAbsent: UInt8 = 16
    static let unchanged: UInt8 = 32
    static let forgets: UInt8 = 64
    static let restore: UInt8 = 128
}

extension Change {
    fileprivate var tag: UInt8 {
        var tag: UInt8 =
            switch expectation {
            case .anything: 0
            case .absent: Tag.absent
            case .unchanged(nil): Tag.unchangedAbsent
            case .unchanged: Tag.unchanged
            }
        if forgets { tag |= Tag.forgets }
        switch action {
        case .remove: return tag | Tag.remove
        case .restore: return tag | Tag.restore
        case .set(_, let attributes, let expiry):
            return tag | Tag.set | (attributes == nil ? 0 : Tag.attributes) | (expiry == nil ? 0 : Tag.expiry)
        }
    }
}

extension ByteWriter {
    /// Encodes a change. `offset` is the offset of the value's box in ``ChangeList/boxes``.
    fileprivate mutating func change(_ change: Change, offset: Int) {
        name(change.name)
        byte(change.tag)
        if case .unchanged(let expected?) = change.expectation { nonce(expected) }
        if case .restore(let version) = change.action { nonce(version.nonce) }
        guard case .set(let value, let attributes, let expiry) = change.action else { return }
        var version = value.version
        version.offset = UInt64(offset)
        storedVersion(version)
        if let attributes { self.attributes(attributes) }
        if let expiry { varint(expiry) }
    }
}

extension ByteReader {
    fileprivate mutating func change(_ boxes: [UInt8], _ keys: KeyRing?) throws(Malformed) -> Change {
        let name = try name()
        let tag = try byte()
        var expectation = Change.Expectation.anything
        if tag & Tag.absent != 0 { expectation = .absent }
        if tag & Tag.unchangedAbsent != 0 { expectation = .unchanged(nil) }
        if tag & Tag.unchanged != 0 { expectation = .unchanged(try nonce()) }
        let forgets = tag & Tag.forgets != 0
        if tag & Tag.restore != 0 {
            return Change(name, expectation, .restore(OpenedVersion(known: try nonce())), forgets: forgets)
        }
        guard tag & Tag.set != 0, let keys else { return Change(name, expectation, .remove, forgets: forgets) }
        let version = try storedVersion()
        let box = boxes[Int(version.offset)..<Int(version.box.upperBound)]
        let attributes = tag & Tag.attributes == 0 ? nil : try attributes(count: .max, size: .max)
        let expiry = tag & Tag.expiry == 0 ? nil : try varint()
        return Change(
            name, expectation,
            .set(SealedValue(version: version, box: box, keys: keys), attributes: attributes, expiry: expiry),
            forgets: forgets)
    }
}
