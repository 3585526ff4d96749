/// The command that may read a value, named by the attribute `policy` of the value's entry or of its login. Policies
/// prevent mistakes but not attacks, since anyone who can open the vault can change them.
package enum ReadingPolicy: String, CaseIterable {
    /// Permits only `vault run`, which passes the value to a program and never shows it.
    case run

    /// Throws `guarded` if the attributes of an entry forbid a reader to read it. An unknown policy forbids all reads.
    ///
    /// - Parameters:
    ///   - isThere: whether the entry is present. An expired login is absent, but still guards its fields.
    ///   - reader: the name of a command, or of another reader.
    package static func check(
        _ attributes: [String: String], of entry: String, isThere: Bool = true, for reader: String
    ) throws(VaultError) {
        guard let text = stated(in: attributes) else { return }
        // A policy has the name of the command that it permits.
        if let policy = ReadingPolicy(rawValue: text), policy.rawValue == reader { return }
        let steps = isThere ? lifting(entry) : "It has expired. Set it again first. \(lifting(entry))"
        throw VaultError(.guarded, "\(rule(text, of: entry)). \(steps)")
    }

    /// Returns which command may read an entry's value, as a sentence without its full stop; nil if all may.
    package static func rule(for attributes: [String: String], of entry: String) -> String? {
        stated(in: attributes).map { rule($0, of: entry) }
    }

    private static func rule(_ policy: String, of entry: String) -> String {
        ReadingPolicy(rawValue: policy).map { "Only `vault \($0.rawValue)` may read \"\(entry)\"" }
            ?? "\"\(entry)\" has a policy that this version does not know, so nothing may read it"
    }

    package static func lifting(_ entry: String) -> String {
        "To remove the policy, run `vault attr \(entry) \(Login.policyKey)=`."
    }

    package static func stated(in attributes: [String: String]) -> String? {
        attributes[Login.policyKey].flatMap { $0.isEmpty ? nil : $0 }
    }
}
