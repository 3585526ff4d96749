package struct PropertyListError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// The bytes break the format.
        case malformed
        /// The bytes may follow the format, but contain something that a ``StoredValue`` cannot represent.
        case unsupported
        /// The tree contains something that the format cannot represent.
        case unrepresentable
        /// Containers are nested deeper than ``StoredValue/maximumDepth``.
        case tooDeep
        /// There are more bytes than ``PropertyListFormat/maximumSize``, or more values than
        /// ``PropertyListFormat/maximumValues``.
        case tooLarge
    }

    package let code: Code
    /// The problem and its location, as part of a sentence. It names lines and keys, but never a value's content:
    /// preferences are not secret, but errors are often passed on.
    package let sentence: String

    package static func malformed(_ what: String) -> Self { Self(code: .malformed, sentence: what) }
    static func unsupported(_ what: String) -> Self { Self(code: .unsupported, sentence: what) }
    static func unrepresentable(_ what: String) -> Self { Self(code: .unrepresentable, sentence: what) }
    static func tooLarge(_ what: String) -> Self { Self(code: .tooLarge, sentence: what) }
    package static let tooDeep = Self(
        code: .tooDeep, sentence: "more than \(StoredValue.maximumDepth) containers inside each other")

    /// Returns a key as a part of a path in errors: `["window"]`.
    static func step(_ key: String) -> String { "[\(shown(key))]" }

    /// Returns a key as errors show it: `"window"`. A key in a file may have any length, and may contain characters
    /// that control a terminal.
    package static func shown(_ key: String) -> String {
        let start = String(String.UnicodeScalarView(key.unicodeScalars.prefix(64)))
        return start.debugDescription + (start.utf8.count < key.utf8.count ? "…" : "")
    }
}
