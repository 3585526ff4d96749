import LinuxSystem
package import Sealing

/// A sealed value: read from the file, or without an offset in it yet.
package struct SealedValue: Sendable {
    let version: StoredVersion
    let box: ArraySlice<UInt8>
}

/// One change that a transaction makes.
package struct Change: Sendable {
    /// The state that the name must have when the transaction is written. Otherwise this transaction fails, and no
    /// other.
    package enum Expectation: Sendable {
        case anything
        /// Error `exists` otherwise.
        case absent
        /// As it was when it was read: the nonce of its value, nil for none. Error `conflict` otherwise.
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
        /// Without attributes, the entry keeps its own. An expiry is not kept.
        case set(SealedValue, attributes: [Attribute]?, expiry: UInt64? = nil)
        case remove

        /// The value that is set, unless it has expired.
        package var presentValue: SealedValue? {
            guard case .set(let value, _, let expiry) = self else { return nil }
            return expiry.map { $0 <= Clock.milliseconds } ?? false ? nil : value
        }
    }

    package let name: EntryName
    package let expectation: Expectation
    package let action: Action

    package init(_ name: EntryName, _ expectation: Expectation, _ action: Action) {
        (self.name, self.expectation, self.action) = (name, expectation, action)
    }
}

/// The changes of a transaction in their order, and what it depends on.
package struct ChangeList: Sendable {
    /// What names that are read must still be: the nonces of their values, nil for none. Error `conflict` otherwise.
    package var conditions: [EntryName: Nonce?] = [:]
    private(set) var cells = NamedCells()
    /// The sealed values, one behind the other.
    private(set) var boxes: [UInt8] = []

    package init(_ changes: [Change] = []) {
        for change in changes { append(change) }
    }

    package var isEmpty: Bool { cells.count == 0 && conditions.isEmpty }

    package mutating func append(_ change: Change) {
        cells.append { $0.change(change, offset: boxes.count) }
        if case .set(let value, _, _) = change.action { boxes.append(contentsOf: value.box) }
    }

    /// Returns the newest change of a name.
    package func newest(_ name: EntryName) -> Change? { name.bytes.withUnsafeBytes(cells.newest).map { self[$0] } }

    var count: Int { cells.count }

    subscript(number: Int) -> Change {
        var reader = cells.reader(number)
        return reader.own { (reader) throws(Malformed) in try reader.change(boxes) }
    }
}

// MARK: - Coding

// Of this process alone; no file has it.

private enum Tag {
    static let remove: UInt8 = 0
    static let set: UInt8 = 1
    static let attributes: UInt8 = 2
    static let expiry: UInt8 = 4
    static let absent: UInt8 = 8
    static let unchangedAbsent: UInt8 = 16
    static let unchanged: UInt8 = 32
}

extension Change {
    fileprivate var tag: UInt8 {
        let expectation: UInt8 =
            switch expectation {
            case .anything: 0
            case .absent: Tag.absent
            case .unchanged(nil): Tag.unchangedAbsent
            case .unchanged: Tag.unchanged
            }
        guard case .set(_, let attributes, let expiry) = action else { return expectation | Tag.remove }
        return expectation | Tag.set | (attributes == nil ? 0 : Tag.attributes) | (expiry == nil ? 0 : Tag.expiry)
    }
}

extension ByteWriter {
    /// - Parameter offset: of the value's box, among those of its list.
    fileprivate mutating func change(_ change: Change, offset: Int) {
        name(change.name)
        byte(change.tag)
        if case .unchanged(let expected?) = change.expectation { nonce(expected) }
        guard case .set(let value, let attributes, let expiry) = change.action else { return }
        var version = value.version
        version.offset = UInt64(offset)
        storedVersion(version)
        if let attributes { self.attributes(attributes) }
        if let expiry { varint(expiry) }
    }
}

extension ByteReader {
    fileprivate mutating func change(_ boxes: [UInt8]) throws(Malformed) -> Change {
        let name = try name()
        let tag = try byte()
        var expectation = Change.Expectation.anything
        if tag & Tag.absent != 0 { expectation = .absent }
        if tag & Tag.unchangedAbsent != 0 { expectation = .unchanged(nil) }
        if tag & Tag.unchanged != 0 { expectation = .unchanged(try nonce()) }
        guard tag & Tag.set != 0 else { return Change(name, expectation, .remove) }
        let version = try storedVersion()
        let box = boxes[Int(version.offset)..<Int(version.box.upperBound)]
        let attributes = tag & Tag.attributes == 0 ? nil : try attributes(count: .max, size: .max)
        let expiry = tag & Tag.expiry == 0 ? nil : try varint()
        return Change(
            name, expectation,
            .set(SealedValue(version: version, box: box), attributes: attributes, expiry: expiry))
    }
}
