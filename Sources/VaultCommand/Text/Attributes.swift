/// Attributes as they are typed: `KEY=VALUE`.
enum Attributes {
    /// The pairs as a dictionary. An error repeats none of them: a secret may have been typed by mistake.
    static func parse(_ pairs: [String]) throws(UsageError) -> [String: String] {
        var attributes: [String: String] = [:]
        for pair in pairs {
            guard let (key, value) = split(pair) else { throw .badAttribute }
            guard attributes.updateValue(value, forKey: key) == nil else { throw .doubledAttribute }
        }
        return attributes
    }

    /// nil where there is no equals sign, or nothing before it.
    static func split(_ pair: String) -> (key: String, value: String)? {
        guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")), equals > pair.startIndex else { return nil }
        return (String(pair[..<equals]), String(pair[pair.utf8.index(after: equals)...]))
    }
}
