/// The command that may read a value, from the attribute `policy` of its entry or of the login that it is a field of.
/// It prevents mistakes, not attacks: anyone who can open the vault can change it.
package enum ReadingPolicy: String, CaseIterable {
    /// Only `vault run`, which hands the value to a program and shows it nowhere.
    case run

    /// Throws `guarded` unless the attributes of an entry let a reader have its value. An unknown policy forbids it.
    ///
    /// - Parameters:
    ///   - isThere: whether the entry is present, and not an expired login, which still guards its fields.
    ///   - reader: the name of a command, or of what else reads for others.
    package static func check(
        _ attributes: [String: String], of entry: String, isThere: Bool = true, for reader: String
    ) throws(VaultError) {
        guard let text = stated(in: attributes) else { return }
        // The name of a policy is that of its command.
        if let policy = ReadingPolicy(rawValue: text), policy.rawValue == reader { return }
        let steps = isThere ? lifting(entry) : "It has expired: set it again first. \(lifting(entry))"
        throw VaultError(.guarded, "\(rule(text, of: entry)). \(steps)")
    }

    /// Returns who may read the value of an entry, as a sentence without its full stop; nil if all may.
    package static func rule(for attributes: [String: String], of entry: String) -> String? {
        stated(in: attributes).map { rule($0, of: entry) }
    }

    private static func rule(_ policy: String, of entry: String) -> String {
        ReadingPolicy(rawValue: policy).map { "Only `vault \($0.rawValue)` may read \"\(entry)\"" }
            ?? "\"\(entry)\" has a policy that this version does not know, so nothing may read it"
    }

    package static func lifting(_ entry: String) -> String {
        "To lift that, run `vault attr \(entry) \(Login.policyKey)=`."
    }

    package static func stated(in attributes: [String: String]) -> String? {
        attributes[Login.policyKey].flatMap { $0.isEmpty ? nil : $0 }
    }
}
