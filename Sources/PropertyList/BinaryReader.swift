import FoundationEssentials

// The comment "HEADER, OBJECT TABLE, OFFSET TABLE, TRAILER" in CoreFoundation's CFBinaryPList.c documents the format.

/// The file's header, and the markers that begin objects. A marker's high half is the type, and its low half the size.
enum BinaryMarker {
    static let header = Array("bplist00".utf8)

    static let no: UInt8 = 0x08
    static let yes: UInt8 = 0x09
    static let integer: UInt8 = 0x10
    static let real: UInt8 = 0x20
    static let date: UInt8 = 0x33
    static let data: UInt8 = 0x40
    static let ascii: UInt8 = 0x50
    static let utf16: UInt8 = 0x60
    static let uid: UInt8 = 0x80
    static let array: UInt8 = 0xa0
    static let dictionary: UInt8 = 0xd0
    /// The low half of a marker if the size does not fit there. The size then follows the marker as an integer object.
    static let sizeFollows: UInt8 = 0x0f
}

/// A reader that builds the tree of a binary property list from the file's objects.
///
/// A file may refer to an object many times. For example, twenty arrays that each contain the next one twice represent
/// a million values. So each object is read once, and its tree is kept together with the tree's size and depth. The
/// reader does not recurse, since containers may be nested to any depth.
struct BinaryReader {
    private struct Subtree {
        let value: StoredValue
        var valueCount = 1
        /// The number of levels of containers in `value`; 0 for a scalar.
        var depth = 0
    }

    /// A container whose children are being read.
    private struct Container {
        let reference: Int
        /// The references of a dictionary's keys; nil for an array.
        let keys: [Int]?
        let children: [Int]
        var values: [StoredValue] = []
        var valueCount = 1
        var depth = 1

        var nextChild: Int? { values.count < children.count ? children[values.count] : nil }
    }

    private let bytes: [UInt8]
    /// Whether to read UIDs, which only keyed archives contain, in their XML form. If false, a UID causes an error.
    private let allowsUIDs: Bool
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let root: Int
    /// The offset at which the objects end and the offset table begins.
    private let tableStart: Int
    /// The offset of the next field of the object that is being read.
    private var offset = 0
    /// The number of object bytes that may still be read. Each object is read once, so only overlapping objects can
    /// exhaust it. No writer produces them, and without a limit, a small file could take unlimited time and memory.
    private var allowance: Int
    /// The tree of each object read so far, by reference; nil for a container whose children are still being read.
    private var subtrees: [Int: Subtree?] = [:]
    private var containers: [Container] = []

    init(_ bytes: [UInt8], allowsUIDs: Bool) throws(PropertyListError) {
        guard bytes.starts(with: BinaryMarker.header) else {
            throw .unsupported("a version of the binary format other than 00")
        }
        let trailer = bytes.count - 32
        guard trailer > BinaryMarker.header.count else { throw .malformed("too short") }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        let fields: [Int] = bytes[(trailer + 8)...].bigEndianNumbers(ofSize: 8)
        objectCount = fields[0]
        root = fields[1]
        tableStart = fields[2]
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw .malformed("a width out of bounds")
        }
        guard (BinaryMarker.header.count + 1...trailer).contains(tableStart),
            (trailer - tableStart).quotientAndRemainder(dividingBy: offsetSize) == (objectCount, 0)
        else { throw .malformed("an offset table out of bounds") }
        guard root < objectCount else { throw .malformed("a missing root") }
        self.bytes = bytes
        self.allowsUIDs = allowsUIDs
        allowance = tableStart - BinaryMarker.header.count
    }

    mutating func read() throws(PropertyListError) -> StoredValue {
        while true {
            let last = containers.count - 1
            guard let reference = last < 0 ? root : containers[last].nextChild else {
                try close()
                continue
            }
            guard let subtree = try subtree(reference) else { continue }
            guard last >= 0 else { return subtree.value }
            containers[last].values.append(subtree.value)
            containers[last].valueCount += subtree.valueCount
            containers[last].depth = max(containers[last].depth, subtree.depth + 1)
            try PropertyListFormat.check(valueCount: containers[last].valueCount)
            // A subtree that has already been read may occur again at a greater depth, so each occurrence is checked.
            guard containers.count + subtree.depth <= StoredValue.maximumDepth else { throw .tooDeep }
        }
    }

    /// Returns an object's tree. For a container that has not been read yet, opens it and returns nil.
    private mutating func subtree(_ reference: Int) throws(PropertyListError) -> Subtree? {
        if let known = subtrees[reference] {
            guard let known else { throw .malformed("a container that contains itself") }
            return known
        }
        guard let value = try scalar(reference) else { return nil }
        var subtree = Subtree(value: value)
        // Among scalars, only a UID is represented as a dictionary. That dictionary contains one value.
        if case .dictionary = value {
            subtree.valueCount = 2
            subtree.depth = 1
        }
        subtrees[reference] = subtree
        return subtree
    }

    private mutating func open(_ reference: Int, keys: [Int]?, children: [Int]) throws(PropertyListError) {
        guard containers.count < StoredValue.maximumDepth else { throw .tooDeep }
        try PropertyListFormat.check(valueCount: 1 + children.count)
        subtrees.updateValue(nil, forKey: reference)
        containers.append(Container(reference: reference, keys: keys, children: children))
    }

    /// Closes the innermost container, whose children have all been read.
    private mutating func close() throws(PropertyListError) {
        let container = containers.removeLast()
        var value = StoredValue.array(container.values)
        if let references = container.keys {
            let keys = try references.map { (key) throws(PropertyListError) in try string(key) }
            let entries = Dictionary(zip(keys, container.values)) { first, _ in first }
            guard entries.count == keys.count else { throw .malformed("a key twice in a dictionary") }
            value = .dictionary(entries)
        }
        subtrees[container.reference] = Subtree(value: value, valueCount: container.valueCount, depth: container.depth)
    }

    private mutating func string(_ reference: Int) throws(PropertyListError) -> String {
        guard case .string(let string) = try subtree(reference)?.value else {
            throw .malformed("a key that is not a string")
        }
        return string
    }
}

extension BinaryReader {
    /// Returns the value of an object. For a container, opens it and returns nil.
    ///
    /// - Parameter reference: a valid reference, which is less than the number of objects.
    private mutating func scalar(_ reference: Int) throws(PropertyListError) -> StoredValue? {
        let entry = tableStart + reference * offsetSize
        offset = Int(clamping: bytes[entry..<entry + offsetSize].bigEndianNumber)
        guard offset >= BinaryMarker.header.count else { throw .malformed("an offset out of bounds") }
        let marker = UInt8(try number(1))
        let size = marker & 0x0f
        switch marker & 0xf0 {
        case 0x00 where marker == BinaryMarker.no || marker == BinaryMarker.yes:
            return .boolean(marker == BinaryMarker.yes)
        case BinaryMarker.integer where size <= 4: return .integer(try integer(1 << Int(size)))
        case BinaryMarker.real where size == 2: return .real(Double(Float(bitPattern: UInt32(try number(4)))))
        case BinaryMarker.real where size == 3: return .real(Double(bitPattern: try number(8)))
        case 0x30 where marker == BinaryMarker.date:
            return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try number(8))))
        case BinaryMarker.data: return .data(Data(try take(try count(size))))
        case BinaryMarker.ascii: return .string(try ascii(try count(size)))
        case BinaryMarker.utf16: return .string(try utf16(try count(size)))
        case BinaryMarker.uid where allowsUIDs && size < 8:
            return .dictionary([PropertyListFormat.uidKey: .integer(Int128(try number(Int(size) + 1)))])
        case BinaryMarker.array: try open(reference, keys: nil, children: references(count(size)))
        case BinaryMarker.dictionary:
            let count = try count(size)
            try open(reference, keys: references(count), children: references(count))
        case 0x00, 0x70, 0x80, 0xb0, 0xc0: throw .unsupported("a null, set, UID or other object that XML does not have")
        default: throw .malformed("an unknown object")
        }
        return nil
    }

    /// Returns the next `count` fields of `width` bytes each, and advances the offset past them.
    private mutating func take(_ count: Int, of width: Int = 1) throws(PropertyListError) -> ArraySlice<UInt8> {
        let (size, overflow) = count.multipliedReportingOverflow(by: width)
        guard !overflow, size >= 0, offset <= tableStart, size <= tableStart - offset else {
            throw .malformed("an object out of bounds")
        }
        allowance -= size
        guard allowance >= 0 else { throw .malformed("objects that overlap") }
        defer { offset += size }
        return bytes[offset..<offset + size]
    }

    private mutating func number(_ size: Int) throws(PropertyListError) -> UInt64 { try take(size).bigEndianNumber }

    private mutating func count(_ size: UInt8) throws(PropertyListError) -> Int {
        guard size == BinaryMarker.sizeFollows else { return Int(size) }
        let marker = UInt8(try number(1))
        guard marker & 0xf0 == BinaryMarker.integer, marker & 0x0f <= 3 else {
            throw .malformed("a size that is not an integer")
        }
        return Int(clamping: try number(1 << Int(marker & 0x0f)))
    }

    /// Reads an integer. Integers of 1, 2 or 4 bytes are unsigned, and those of 8 or 16 bytes are signed.
    private mutating func integer(_ size: Int) throws(PropertyListError) -> Int128 {
        guard size == 16 else {
            let value = try number(size)
            return size == 8 ? Int128(Int64(bitPattern: value)) : Int128(value)
        }
        let halves: [UInt128] = try take(size).bigEndianNumbers(ofSize: 8)
        let value = Int128(bitPattern: halves[0] << 64 | halves[1])
        guard StoredValue.integers.contains(value) else { throw .unsupported("an integer beyond 64 bits") }
        return value
    }

    private mutating func ascii(_ count: Int) throws(PropertyListError) -> String {
        let characters = try take(count)
        guard characters.allSatisfy({ $0 < 0x80 }) else { throw .malformed("an ASCII string with a byte above 127") }
        return String(decoding: characters, as: UTF8.self)
    }

    private mutating func utf16(_ count: Int) throws(PropertyListError) -> String {
        let units: [UInt16] = try take(count, of: 2).bigEndianNumbers(ofSize: 2)
        guard let string = String(validating: units, as: UTF16.self) else {
            throw .malformed("a UTF-16 string with an unpaired surrogate")
        }
        return string
    }

    private mutating func references(_ count: Int) throws(PropertyListError) -> [Int] {
        let references: [Int] = try take(count, of: referenceSize).bigEndianNumbers(ofSize: referenceSize)
        guard references.allSatisfy({ $0 < objectCount }) else { throw .malformed("a reference out of bounds") }
        return references
    }
}

extension ArraySlice<UInt8> {
    /// The bytes, at most 8, as a big-endian number.
    var bigEndianNumber: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }

    /// Returns these bytes as big-endian numbers of `size` bytes each. A number that does not fit becomes `Number.max`.
    func bigEndianNumbers<Number: FixedWidthInteger>(ofSize size: Int) -> [Number] {
        stride(from: startIndex, to: endIndex, by: size).map { Number(clamping: self[$0..<$0 + size].bigEndianNumber) }
    }
}
