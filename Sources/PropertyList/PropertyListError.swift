/// Why a property list was not read or written.
///
/// `detail` names places and keys, never a value's content: preferences are not secret, but error texts travel.
package struct PropertyListError: Error, Hashable, Sendable {
    /// The kind of failure. More kinds may come.
    package struct Code: Hashable, Sendable {
        private enum Kind { case malformed, unsupported, unrepresentable, tooDeep, tooLarge }
        private let kind: Kind

        /// The bytes break the format.
        package static let malformed = Code(kind: .malformed)
        /// The bytes may follow the format, but hold what a ``PropertyList`` cannot keep.
        package static let unsupported = Code(kind: .unsupported)
        /// The tree holds what the format cannot.
        package static let unrepresentable = Code(kind: .unrepresentable)
        /// More containers inside each other than ``Limits/depth``.
        package static let tooDeep = Code(kind: .tooDeep)
        /// More bytes than ``Limits/size`` or more values than ``Limits/values``.
        package static let tooLarge = Code(kind: .tooLarge)
    }

    package let code: Code
    package let detail: String
    /// In XML that was read, counted from 1.
    package let line: Int?

    package init(_ code: Code, _ detail: String, line: Int? = nil) {
        self.code = code
        self.detail = detail
        self.line = line
    }
}

extension PropertyListError {
    static func malformed(_ detail: String) -> PropertyListError { PropertyListError(.malformed, detail) }

    static func unsupported(_ detail: String) -> PropertyListError { PropertyListError(.unsupported, detail) }

    static var tooDeep: PropertyListError {
        PropertyListError(.tooDeep, "more than \(Limits.depth) containers inside each other")
    }

    static var tooManyValues: PropertyListError { PropertyListError(.tooLarge, "more than \(Limits.values) values") }

    func on(line: Int) -> PropertyListError { PropertyListError(code, detail, line: line) }
}
