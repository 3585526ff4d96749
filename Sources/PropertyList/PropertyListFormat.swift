/// The two formats of property lists. Comments, processing instructions and layout are not kept.
///
/// The tree is our own because the one of FoundationEssentials loses what another program's file holds: there
/// `<real>1.0</real>` is read as an integer, and 10,000 nested arrays crash it.
///
/// The limits hold for reading and writing, so that whatever is written can be read back.
package enum PropertyListFormat: Hashable, Sendable {
    case xml
    case binary

    /// The size of a file, in bytes.
    package static let maximumSize = 64 << 20
    /// Values in a tree. A binary file may refer to one object many times, and so hold a tree far larger than itself.
    package static let maximumValues = 1_000_000

    /// The only key of the dictionary that a UID of a keyed archive is in XML.
    package static let uidKey = "CF$UID"

    static func check(valueCount: Int = 0, size: Int = 0) throws(PropertyListError) {
        guard valueCount <= maximumValues else { throw .tooLarge("more than \(maximumValues) values") }
        guard size <= maximumSize else { throw .tooLarge("more than \(maximumSize) bytes") }
    }

    /// Reads a property list in either format, which its first bytes tell. Total: whatever the bytes are, it returns a
    /// tree within the limits or throws.
    ///
    /// Swift takes keys that are canonically equivalent (one é, or e and an accent) for the same. A file that holds
    /// both is refused like one that holds a key twice.
    ///
    /// - Parameter allowsUIDs: reads the UIDs of a binary keyed archive as in XML. Without it they are `unsupported`.
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

    /// Reads a property list with a dictionary at its root; another root is `malformed`.
    package static func parseDictionary(
        _ bytes: [UInt8], allowsUIDs: Bool = false
    ) throws(PropertyListError) -> (values: [String: StoredValue], format: Self) {
        let (tree, format) = try parse(bytes, allowsUIDs: allowsUIDs)
        guard case .dictionary(let values) = tree else { throw .malformed("its root is not a dictionary") }
        return (values, format)
    }

    /// Returns the bytes of a property list that any tool reads: for the same tree the same. A tree that is deeper than
    /// the limit is safe to pass.
    ///
    /// - Throws: `unrepresentable`, for XML with the location; `tooDeep` or `tooLarge` for what could not be read back.
    package func serialized(_ tree: StoredValue) throws(PropertyListError) -> [UInt8] {
        switch self {
        case .xml: try XMLWriter(tree).output
        case .binary: try BinaryWriter(tree).output
        }
    }
}
