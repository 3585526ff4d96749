/// The two formats of property lists. Comments, processing instructions and layout are not preserved.
///
/// The tree of FoundationEssentials is not used because it does not preserve another program's file. It reads
/// `<real>1.0</real>` as an integer, and 10,000 nested arrays crash it.
///
/// The limits apply to reading and to writing, so whatever is written can be read back.
package enum PropertyListFormat: Hashable, Sendable {
    case xml, binary

    /// The maximum size of a file in bytes.
    package static let maximumSize = 64 << 20
    /// The maximum number of values in a tree. A small binary file can exceed it by many references to objects.
    package static let maximumValues = 1_000_000

    /// The only key of the dictionary that represents a keyed archive's UID in XML.
    package static let uidKey = "CF$UID"

    static func check(valueCount: Int = 0, size: Int = 0) throws(PropertyListError) {
        guard valueCount <= maximumValues else { throw .tooLarge("more than \(maximumValues) values") }
        guard size <= maximumSize else { throw .tooLarge("more than \(maximumSize) bytes") }
    }

    /// Reads a property list in the format that its first bytes indicate. Any bytes are safe to pass, since the result
    /// is a tree within the limits or an error.
    ///
    /// In Swift, keys that are canonically equivalent (é as one character, or e and an accent) are equal. A file that
    /// contains both is refused, like a file that contains a key twice.
    ///
    /// - Parameter allowsUIDs: whether the UIDs of a binary keyed archive are read as XML represents them. Otherwise
    ///   they are `unsupported`.
    package static func parse(
        _ bytes: [UInt8], allowsUIDs: Bool = false
    ) throws(PropertyListError) -> (tree: StoredValue, format: Self) {
        try check(size: bytes.count)
        guard bytes.starts(with: "bplist".utf8) else {
            let builder = XMLTreeBuilder()
            try XMLReader(builder).read(bytes)
            guard let root = builder.root else { throw .malformed("no property list") }
            return (root, .xml)
        }
        var reader = try BinaryReader(bytes, allowsUIDs: allowsUIDs)
        return (try reader.read(), .binary)
    }

    /// Reads a property list whose root is a dictionary; any other root is `malformed`.
    package static func parseDictionary(
        _ bytes: [UInt8], allowsUIDs: Bool = false
    ) throws(PropertyListError) -> (values: [String: StoredValue], format: Self) {
        let (tree, format) = try parse(bytes, allowsUIDs: allowsUIDs)
        guard case .dictionary(let values) = tree else { throw .malformed("its root is not a dictionary") }
        return (values, format)
    }

    /// Returns the bytes of a property list that any tool can read. Equal trees have equal bytes. A tree that is nested
    /// too deeply is safe to pass.
    ///
    /// - Throws: `unrepresentable`, which names the location for XML; `tooDeep` or `tooLarge` if the result could not
    ///   be read back.
    package func serialized(_ tree: StoredValue) throws(PropertyListError) -> [UInt8] {
        switch self {
        case .xml: try XMLWriter(tree).output
        case .binary: try BinaryWriter(tree).output
        }
    }
}
