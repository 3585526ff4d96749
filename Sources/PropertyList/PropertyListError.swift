/// Why a property list was not read or written.
package struct PropertyListError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// The bytes break the format.
        case malformed
        /// The bytes may follow the format, but hold what a ``StoredValue`` cannot keep.
        case unsupported
        /// The tree holds what the format cannot.
        case unrepresentable
        /// More containers inside each other than ``StoredValue/maximumDepth``.
        case tooDeep
        /// More bytes than ``PropertyListFormat/maximumSize`` or more values than ``PropertyListFormat/maximumValues``.
        case tooLarge
    }

    package let code: Code
    /// What is wrong, and where; a part of a sentence. Names locations and keys, never a value's content: preferences
    /// are not secret, but error texts travel.
    package let sentence: String

    package static func malformed(_ what: String) -> Self { Self(code: .malformed, sentence: what) }
    static func unsupported(_ what: String) -> Self { Self(code: .unsupported, sentence: what) }
    static func unrepresentable(_ what: String) -> Self { Self(code: .unrepresentable, sentence: what) }
    static func tooLarge(_ what: String) -> Self { Self(code: .tooLarge, sentence: what) }
    package static let tooDeep = Self(
        code: .tooDeep, sentence: "more than \(StoredValue.maximumDepth) containers inside each other")

    /// A key on the way to a value, as errors show it: `["window"]`.
    static func step(_ key: String) -> String { "[\(shown(key))]" }

    /// A key as errors show it: `"window"`. A key of a file may be of any length, and may hold what a terminal would
    /// obey.
    package static func shown(_ key: String) -> String {
        let start = String(String.UnicodeScalarView(key.unicodeScalars.prefix(64)))
        return start.debugDescription + (start.utf8.count < key.utf8.count ? "…" : "")
    }
}
