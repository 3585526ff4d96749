import Vault

// The policies that users may set with a command.

extension ReadingPolicy {
    /// Throws a usage error for attributes with an unknown policy. An empty policy means none.
    static func check(_ attributes: [String: String]) throws(CommandError) {
        guard let text = stated(in: attributes), ReadingPolicy(rawValue: text) == nil else { return }
        throw .invalid("Unknown policy. The attribute `policy` must be \(known) or empty.")
    }

    /// Throws a usage error for an unknown or empty policy: attributes that are added cannot lift a policy.
    static func check(_ attributes: [String: String], addedTo entry: String) throws(CommandError) {
        try check(attributes)
        guard attributes[Login.policyKey] == "" else { return }
        throw .invalid("`vault set` only adds attributes, so an empty policy has no effect. \(lifting(entry))")
    }

    private static var known: String { allCases.map(\.rawValue).joined(separator: " or ") }
}
