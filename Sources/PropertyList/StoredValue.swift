public import FoundationEssentials

/// A value in the form in which stores keep it: a primitive, and the tag that names its type.
///
/// Stores pass values on without inspecting them. You need this type only to implement a ``ValueStore`` or a
/// ``StorablePrimitive``. The description of a StoredValue shows only the type, never the value.
public enum StoredValue: Sendable {
    /// The absence of a value in an array, a dictionary or a stored optional.
    case null
    /// A boolean, which is distinct from an integer.
    case boolean(Bool)
    /// An integer of any type, from -2^63 to 2^64 - 1.
    case integer(Int128)
    /// A floating-point number, even if it is whole.
    case real(Double)
    /// A string.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A point in time.
    case date(Date)
    /// An ordered list of values.
    case array([StoredValue])
    /// Values, each with a string as its key.
    case dictionary([String: StoredValue])
    /// Bytes that were stored without a type. They can be read as data, or as a string if they are UTF-8.
    case untyped(Data)
}

extension StoredValue {
    /// The range of integers that can be stored, from the minimum of Int64 to the maximum of UInt64.
    package static let integers = Int128(Int64.min)...Int128(UInt64.max)

    /// The maximum number of nested containers. Deeper nesting is neither read nor written, since decoding and freeing
    /// a value use stack space for each level.
    package static let maximumDepth = 512

    /// The type of the value, with its article: "a string", "an integer".
    public var typeName: String {
        switch self {
        case .null: "nothing"
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .real: "a real number"
        case .string: "a string"
        case .data: "data"
        case .date: "a date"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .untyped: "bytes without a type"
        }
    }
}

extension StoredValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "StoredValue(\(typeName))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// Values are equal if they have the same bits. The standard library's equality differs in three cases. It equates two
// spellings of an accented letter, and -0.0 with 0.0, so a change would go unnoticed. It distinguishes a NaN from
// itself, so a comparison would never succeed.
//
// The comparison does not recurse, so a value that is nested too deeply does not overflow a thread's stack.

extension StoredValue: Hashable {
    public static func == (left: StoredValue, right: StoredValue) -> Bool {
        var pairs = [(left, right)]
        while let pair = pairs.popLast() {
            switch pair {
            case (.array(let left), .array(let right)):
                guard left.count == right.count else { return false }
                pairs.append(contentsOf: zip(left, right))
            case (.dictionary(let left), .dictionary(let right)):
                guard left.count == right.count else { return false }
                for (key, value) in left {
                    // Swift equates different encodings of an accented letter in `key`, so the bytes are compared.
                    guard let index = right.index(forKey: key), right[index].key.utf8.elementsEqual(key.utf8) else {
                        return false
                    }
                    pairs.append((value, right[index].value))
                }
            case (.null, .null): continue
            case (.boolean(let left), .boolean(let right)): guard left == right else { return false }
            case (.integer(let left), .integer(let right)): guard left == right else { return false }
            case (.real(let left), .real(let right)): guard left.bitPattern == right.bitPattern else { return false }
            case (.string(let left), .string(let right)):
                guard left.utf8.elementsEqual(right.utf8) else { return false }
            case (.data(let left), .data(let right)), (.untyped(let left), .untyped(let right)):
                guard left == right else { return false }
            case (.date(let left), .date(let right)):
                pairs.append((.real(left.timeIntervalSinceReferenceDate), .real(right.timeIntervalSinceReferenceDate)))
            default: return false
            }
        }
        return true
    }

    /// Hashes a container by its size only, which is cheap at any depth.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: break
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value.bitPattern)
        case .string(let value): hasher.combine(value)
        case .data(let value), .untyped(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate.bitPattern)
        case .array(let values): hasher.combine(values.count)
        case .dictionary(let values): hasher.combine(values.count)
        }
    }
}

extension [String: StoredValue] {
    /// The entries, sorted by the UTF-8 bytes of their keys. Every format writes a dictionary's entries in this order.
    package var sortedByBytes: [(key: String, value: StoredValue)] {
        sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

/// The two formats of property lists. Comments, processing instructions and layout are not preserved.
///
/// FoundationEssentials is not used because it does not preserve another program's file. For example, it reads
/// `<real>1.0</real>` as an integer. It also crashes on 10,000 nested arrays.
///
/// The limits apply to reading and to writing, so whatever is written can be read back.
package enum PropertyListFormat: Hashable, Sendable {
    case xml, binary

    /// The maximum size of a property list in bytes.
    package static let maximumSize = 64 << 20
    /// The maximum number of values in a tree. A small binary file can exceed it by referring to objects many times.
    package static let maximumValues = 1_000_000

    /// The only key of the dictionary that represents a keyed archive's UID in XML.
    package static let uidKey = "CF$UID"

    static func check(valueCount: Int = 0, size: Int = 0) throws(PropertyListError) {
        guard valueCount <= maximumValues else { throw .tooLarge("more than \(maximumValues) values") }
        guard size <= maximumSize else { throw .tooLarge("more than \(maximumSize) bytes") }
    }

    /// Reads a property list in the format that its first bytes indicate. It is safe to pass any bytes: the result is
    /// either a tree within the limits or an error.
    ///
    /// Two keys that are canonically equivalent (é as one character, and e with an accent) are equal in Swift. A file
    /// that contains both is refused, like a file that contains the same key twice.
    ///
    /// - Parameter allowsUIDs: whether the UIDs of a binary keyed archive are read in their XML form. Otherwise, they
    ///   are `unsupported`.
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
    /// too deeply causes an error, never a stack overflow.
    ///
    /// - Throws: `unrepresentable`, which for XML names the value's location; `tooDeep` or `tooLarge` if the result
    ///   could not be read back.
    package func serialized(_ tree: StoredValue) throws(PropertyListError) -> [UInt8] {
        switch self {
        case .xml: try XMLWriter(tree).output
        case .binary: try BinaryWriter(tree).output
        }
    }
}
