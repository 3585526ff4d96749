/// Why a property list was not read or written.
///
/// `detail` names locations and keys, never a value's content: preferences are not secret, but error texts travel.
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
    package let detail: String
    /// The line in XML that was read, counted from 1.
    package private(set) var line: Int?

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// What is wrong, and where; a part of a sentence.
    package var sentence: String { line.map { "\(detail) (line \($0))" } ?? detail }
}

extension PropertyListError {
    static func malformed(_ detail: String) -> PropertyListError { PropertyListError(.malformed, detail) }

    static func unsupported(_ detail: String) -> PropertyListError { PropertyListError(.unsupported, detail) }

    static func unrepresentable(_ detail: String) -> PropertyListError { PropertyListError(.unrepresentable, detail) }

    static var tooDeep: PropertyListError {
        PropertyListError(.tooDeep, "more than \(StoredValue.maximumDepth) containers inside each other")
    }

    static var tooManyValues: PropertyListError {
        PropertyListError(.tooLarge, "more than \(PropertyListFormat.maximumValues) values")
    }

    static var tooManyBytes: PropertyListError {
        PropertyListError(.tooLarge, "more than \(PropertyListFormat.maximumSize) bytes")
    }

    func on(line: Int) -> PropertyListError {
        var error = self
        error.line = line
        return error
    }

    /// A key on the way to a value, as errors show it: `["window"]`. A key of a file may be of any length, and may hold
    /// what a terminal would obey.
    static func step(_ key: String) -> String {
        let start = String(String.UnicodeScalarView(key.unicodeScalars.prefix(64)))
        return "[\(start.debugDescription)\(start.utf8.count < key.utf8.count ? "…" : "")]"
    }
}
