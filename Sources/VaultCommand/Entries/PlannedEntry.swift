import FoundationEssentials
import Vault

final class PlannedEntry {
    let name: String
    let value: SealableValue
    let attributes: [String: String]
    /// The time at which the entry expires; nil if it does not.
    let expires: Date?
    /// The entry's line in the imported file; nil if it is unknown.
    let line: Int?

    init(
        _ name: String, _ value: consuming SealableValue, attributes: [String: String] = [:], expires: Date? = nil,
        line: Int? = nil
    ) {
        self.name = name
        self.attributes = attributes
        self.expires = expires
        self.line = line
        self.value = value
    }
}

enum EntryChange: String, Encodable {
    case stored, replaced
    /// The vault already has the same value under this name.
    case unchanged
    /// The vault has a different value under this name, and keeps it.
    case kept
}

/// How to treat a name under which the vault has a different value.
enum ClashPolicy { case refuse, replace, keep }

extension Keychain {
    /// Stores entries atomically, with one durable write.
    ///
    /// - Parameter isDryRun: whether to determine the changes without storing anything.
    /// - Returns: the change for each entry.
    /// - Throws: ``CommandError`` (refused) if `policy` is `refuse` and the vault has a different value under any name;
    ///   the same errors as ``transaction(_:)``.
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
    /// Returns the effect of storing this entry. An entry with an equal value is left alone, so that an import can be
    /// repeated. If `policy` is `replace`, its kind, attributes and expiry must be equal too.
    fileprivate func change(
        in transaction: inout Keychain.Transaction, of keychain: Keychain, _ policy: ClashPolicy
    ) throws(VaultError) -> EntryChange {
        guard let former = try transaction.get(name) else { return .stored }
        guard former.isEqual(to: value.bytes) else { return policy == .replace ? .replaced : .kept }
        // The transaction has read the entry, so it is retried if another process changes the attributes now.
        guard policy == .replace, let item = try keychain.item(name) else { return .unchanged }
        let isSame = item.valueKind == value.kind && item.attributes == attributes && item.expires == expires
        return isSame ? .unchanged : .replaced
    }
}

extension CommandError {
    fileprivate static func clashing(_ names: [String]) -> CommandError {
        let count =
            names.count == 1
            ? "1 name has a different value" : "\(Quantity.number(names.count)) names have different values"
        return .refused("\(count) in the vault; nothing was imported. Use --replace or --skip.\(lines(names))")
    }
}
