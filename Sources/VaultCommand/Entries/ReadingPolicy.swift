import Vault

// What a command lets a person state as a policy.

extension ReadingPolicy {
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

    private static var known: String { allCases.map(\.rawValue).joined(separator: " or ") }
}
