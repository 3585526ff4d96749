import FoundationEssentials
import Vault

/// An entry that an import is about to store.
final class PlannedEntry {
    let name: String
    let value: SealableValue
    let attributes: [String: String]
    /// From when on it is absent.
    let expires: Date?
    /// Where it comes from in the file; nil if that is not known.
    let line: Int?

    init(
        _ name: String, _ value: consuming SealableValue, attributes: [String: String] = [:], expires: Date? = nil,
        line: Int? = nil
    ) {
        (self.name, self.attributes, self.expires, self.line) = (name, attributes, expires, line)
        self.value = value
    }
}

/// What becomes of a planned entry.
enum EntryChange: String, Encodable {
    case stored, replaced
    /// The name has the same value.
    case unchanged
    /// The name has another value, which is kept.
    case kept
}

/// What is to be done if a name has another value.
enum ClashPolicy {
    case refuse, replace, keep
}

extension Keychain {
    /// Stores entries all together or not at all, with one durable write.
    ///
    /// - Parameter isDryRun: only finds out what would become of the entries.
    /// - Returns: what has become of each.
    /// - Throws: ``CommandError``: refused, with the names that have other values; as ``transaction(_:)``.
    func store(
        _ entries: [PlannedEntry], onClash policy: ClashPolicy, isDryRun: Bool, step: () -> Void
    ) throws -> [EntryChange] {
        try transaction { (transaction: inout Transaction) throws -> [EntryChange] in
            let changes = try entries.map { entry in
                defer { step() }
                let change = try entry.change(in: &transaction, of: self, policy)
                if !isDryRun, change == .stored || change == .replaced {
                    try transaction.put(entry.name, entry.value, attributes: entry.attributes, expires: entry.expires)
                }
                return change
            }
            let clashes = zip(entries, changes).filter { $1 == .kept }.map(\.0.name)
            guard policy != .refuse || clashes.isEmpty else { throw CommandError.clashing(clashes) }
            return changes
        }
    }
}

extension PlannedEntry {
    /// A name with an equal value is left as it is: an import may be run again. Unless values are to be replaced, a
    /// person's own attributes stay, too.
    fileprivate func change(
        in transaction: inout Keychain.Transaction, of keychain: Keychain, _ policy: ClashPolicy
    ) throws(VaultError) -> EntryChange {
        guard let former = try transaction.get(name) else { return .stored }
        guard former.isEqual(to: value.bytes) else { return policy == .replace ? .replaced : .kept }
        // Read after the value: if another process changes them now, the transaction runs again.
        guard policy == .replace, let item = try keychain.item(name) else { return .unchanged }
        let isSame = item.valueKind == value.kind && item.attributes == attributes && item.expires == expires
        return isSame ? .unchanged : .replaced
    }
}

extension CommandError {
    fileprivate static func clashing(_ names: [String]) -> CommandError {
        let count =
            names.count == 1 ? "1 name has another value" : "\(Quantity.number(names.count)) names have other values"
        return .refused("\(count) in the vault; nothing was imported. Use --replace or --skip.\(lines(names))")
    }
}
