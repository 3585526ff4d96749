/// How a property list lies in a file.
package enum PropertyListFormat: Hashable, Sendable {
    case xml
    case binary
}

extension PropertyList {
    /// Reads a property list in either format, told by its first bytes.
    ///
    /// Total: whatever the bytes are, it gives a tree within ``Limits`` or throws.
    ///
    /// - Throws: ``PropertyListError``: `malformed`, `unsupported`, `tooDeep` or `tooLarge`.
    package static func parse(
        _ bytes: [UInt8]
    ) throws(PropertyListError) -> (tree: PropertyList, format: PropertyListFormat) {
        guard bytes.count <= Limits.size else {
            throw PropertyListError(.tooLarge, "more than \(Limits.size) bytes")
        }
        guard bytes.starts(with: "bplist".utf8) else { return (try Expat.parse(bytes), .xml) }
        return (try BinaryReader.parse(bytes), .binary)
    }

    /// Reads a property list whose format does not matter; see ``parse(_:)``.
    package init(parsing bytes: [UInt8]) throws(PropertyListError) {
        self = try PropertyList.parse(bytes).tree
    }

    /// The tree as XML that any property list tool reads. The same tree gives the same bytes.
    ///
    /// - Throws: ``PropertyListError``: `unrepresentable` for what XML cannot hold (naming where it lies), `tooDeep` or
    ///   `tooLarge` for what could not be read back.
    package func xml() throws(PropertyListError) -> [UInt8] {
        var writer = XMLWriter()
        return try writer.write(self)
    }

    /// The tree as a binary property list.
    ///
    /// - Throws: ``PropertyListError``: `unrepresentable` for an integer out of bounds, `tooDeep` or `tooLarge`.
    package func binary() throws(PropertyListError) -> [UInt8] {
        var writer = BinaryWriter()
        return try writer.write(self)
    }
}
