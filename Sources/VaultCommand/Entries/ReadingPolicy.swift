import Vault

/// Which command may read a value: the attribute `policy` of its entry, and of the login that it is a field of. It guards
/// against slips. Whoever can open the vault can change it.
enum ReadingPolicy: String, CaseIterable {
    /// Only `vault run`, which hands the value to a program and shows it nowhere.
    case run

    /// Throws a usage error for attributes with a policy that does not exist. An empty one is none.
    static func check(_ attributes: [String: String]) throws(CommandError) {
        guard let text = stated(in: attributes), ReadingPolicy(rawValue: text) == nil else { return }
        throw .invalid("There is no such policy. The attribute policy is \(known), or empty.")
    }

    /// Throws a usage error, too, for an empty policy: what is added to a name lifts none.
    static func check(_ attributes: [String: String], addedTo entry: String) throws(CommandError) {
        try check(attributes)
        guard attributes[Login.policyKey] == "" else { return }
        throw .invalid("Attributes are added, so an empty policy lifts none. \(lifting(entry))")
    }

    /// Throws `refused` unless the attributes of an entry let a command read its value. A policy that this version does
    /// not know lets none.
    ///
    /// - Parameter isThere: whether the entry is present, and not an expired login, which still guards its fields.
    static func check(
        _ attributes: [String: String], of entry: String, isThere: Bool = true, for command: CommandName
    ) throws(CommandError) {
        guard let text = stated(in: attributes) else { return }
        // The name of a policy is that of its command.
        if let policy = ReadingPolicy(rawValue: text), policy.rawValue == command.rawValue { return }
        let steps = isThere ? lifting(entry) : "It has expired: set it again first. \(lifting(entry))"
        throw .refused("\(rule(text, of: entry)). \(steps)")
    }

    /// Returns who may read the value of an entry, as a sentence without its full stop; nil if all commands may.
    static func rule(for attributes: [String: String], of entry: String) -> String? {
        stated(in: attributes).map { rule($0, of: entry) }
    }

    private static func rule(_ policy: String, of entry: String) -> String {
        ReadingPolicy(rawValue: policy).map { "Only `vault \($0.rawValue)` may read \"\(entry)\"" }
            ?? "\"\(entry)\" has a policy that this version does not know, so nothing may read it"
    }

    private static func lifting(_ entry: String) -> String {
        "To lift that, run `vault attr \(entry) \(Login.policyKey)=`."
    }

    private static func stated(in attributes: [String: String]) -> String? {
        attributes[Login.policyKey].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static var known: String { allCases.map(\.rawValue).joined(separator: " or ") }
}
