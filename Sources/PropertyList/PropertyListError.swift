package struct PropertyListError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// The bytes violate the format.
        case malformed
        /// The bytes may be valid, but contain something that a ``StoredValue`` cannot represent.
        case unsupported
        /// The tree contains something that the format cannot represent.
        case unrepresentable
        /// Containers are nested deeper than ``StoredValue/maximumDepth``.
        case tooDeep
        /// The bytes or values exceed a limit of ``PropertyListFormat``.
        case tooLarge
    }

    package let code: Code
    /// The problem and its location, as a sentence fragment. It may contain line numbers and keys, but no value. Values
    /// are left out because errors are often shown to other people.
    package let sentence: String

    package static func malformed(_ what: String) -> Self { Self(code: .malformed, sentence: what) }
    static func unsupported(_ what: String) -> Self { Self(code: .unsupported, sentence: what) }
    static func unrepresentable(_ what: String) -> Self { Self(code: .unrepresentable, sentence: what) }
    static func tooLarge(_ what: String) -> Self { Self(code: .tooLarge, sentence: what) }
    package static let tooDeep = Self(
        code: .tooDeep, sentence: "containers nested more than \(StoredValue.maximumDepth) levels deep")

    /// Returns a key as one step of the path in an error: `["window"]`.
    static func step(_ key: String) -> String { "[\(shown(key))]" }

    /// Returns a key as it appears in an error: `"window"`. A key in a file may have any length and contain terminal
    /// control characters, so it is shortened and escaped.
    package static func shown(_ key: String) -> String {
        let start = String(String.UnicodeScalarView(key.unicodeScalars.prefix(64)))
        return start.debugDescription + (start.utf8.count < key.utf8.count ? "…" : "")
    }
}
