import FoundationEssentials

/// Builds the tree of a binary property list from its objects.
///
/// A file may refer to an object many times: twenty arrays that each hold the next one twice are a million values. So
/// each object is read once and kept, with the size and depth of the tree below it. Iterative, as a file may nest
/// without end.
struct BinaryReader {
    private struct Subtree {
        let value: StoredValue
        var valueCount = 1
        /// Containers inside each other, counted from here.
        var depth = 0
    }

    /// A container whose children are being read.
    private struct Container {
        let reference: Int
        /// nil for an array.
        let keys: [String]?
        let children: [Int]
        var values: [StoredValue] = []
        var valueCount = 1
        var depth = 1

        var nextChild: Int? { values.count < children.count ? children[values.count] : nil }
    }

    /// One object, its children not yet read.
    private enum Object {
        case scalar(StoredValue)
        /// `keys` is nil for an array.
        case container(keys: [Int]?, children: [Int])
    }

    private let bytes: [UInt8]
    private let trailer: BinaryTrailer
    /// Offset of the next field, while an object is read.
    private var offset = 0
    /// Bytes of objects that may still be read. Each object is read once, so only objects that overlap use it up. No
    /// writer produces them, and they could make a small file cost any time and memory.
    private var allowance: Int
    /// What was read, by reference; nil for a container that is still open.
    private var subtrees: [Int: Subtree?] = [:]
    /// The open containers.
    private var containers: [Container] = []

    init(_ bytes: [UInt8]) throws(PropertyListError) {
        self.bytes = bytes
        trailer = try BinaryTrailer(bytes)
        allowance = trailer.tableStart - BinaryTrailer.header.count
    }

    mutating func read() throws(PropertyListError) -> StoredValue {
        while true {
            let last = containers.count - 1
            guard let reference = last < 0 ? trailer.root : containers[last].nextChild else {
                try close()
                continue
            }
            guard let subtree = try subtree(reference) else { continue }
            guard last >= 0 else { return subtree.value }
            containers[last].values.append(subtree.value)
            containers[last].valueCount += subtree.valueCount
            containers[last].depth = max(containers[last].depth, subtree.depth + 1)
            try PropertyListFormat.check(valueCount: containers[last].valueCount)
            // A subtree that was read before may be used at a greater depth now.
            guard containers.count + subtree.depth <= StoredValue.maximumDepth else { throw .tooDeep }
        }
    }

    /// Returns the tree below an object, or nil if it is a container that was opened.
    private mutating func subtree(_ reference: Int) throws(PropertyListError) -> Subtree? {
        if let known = subtrees[reference] {
            guard let known else { throw .malformed("a container that holds itself") }
            return known
        }
        switch try object(reference) {
        case .scalar(let value):
            let subtree = Subtree(value: value)
            subtrees[reference] = subtree
            return subtree
        case .container(let keys, let children):
            let keys = try keys?.map { (key) throws(PropertyListError) in try string(key) }
            guard containers.count < StoredValue.maximumDepth else { throw .tooDeep }
            try PropertyListFormat.check(valueCount: 1 + children.count)
            subtrees.updateValue(nil, forKey: reference)
            containers.append(Container(reference: reference, keys: keys, children: children))
            return nil
        }
    }

    private mutating func string(_ reference: Int) throws(PropertyListError) -> String {
        if subtrees[reference] == nil, case .scalar(let value) = try object(reference) {
            subtrees[reference] = Subtree(value: value)
        }
        guard case .string(let string) = subtrees[reference]??.value else {
            throw .malformed("a key that is not a string")
        }
        return string
    }

    /// Removes the innermost container, which has all its children.
    private mutating func close() throws(PropertyListError) {
        let container = containers.removeLast()
        var value = StoredValue.array(container.values)
        if let keys = container.keys {
            let entries = Dictionary(zip(keys, container.values)) { first, _ in first }
            guard entries.count == keys.count else { throw .malformed("a key twice in a dictionary") }
            value = .dictionary(entries)
        }
        let subtree = Subtree(value: value, valueCount: container.valueCount, depth: container.depth)
        subtrees[container.reference] = subtree
    }
}

// Single objects. Total: whatever the bytes are, a call returns an object or throws.

extension BinaryReader {
    /// - Parameter reference: below the number of objects.
    private mutating func object(_ reference: Int) throws(PropertyListError) -> Object {
        let entry = trailer.tableStart + reference * trailer.offsetSize
        offset = Int(clamping: bytes[entry..<entry + trailer.offsetSize].bigEndianNumber)
        guard offset >= BinaryTrailer.header.count else { throw .malformed("an offset out of bounds") }
        let marker = UInt8(try number(1))
        let size = marker & 0x0f
        switch marker & 0xf0 {
        case 0x00 where marker == BinaryMarker.no || marker == BinaryMarker.yes:
            return .scalar(.boolean(marker == BinaryMarker.yes))
        case BinaryMarker.integer where size <= 4: return .scalar(.integer(try integer(1 << Int(size))))
        case BinaryMarker.real where size == 2: return .scalar(.real(Double(Float(bitPattern: UInt32(try number(4))))))
        case BinaryMarker.real where size == 3: return .scalar(.real(Double(bitPattern: try number(8))))
        case 0x30 where marker == BinaryMarker.date:
            return .scalar(.date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try number(8)))))
        case BinaryMarker.data: return .scalar(.data(Data(try take(try count(size)))))
        case BinaryMarker.ascii: return .scalar(.string(try ascii(try count(size))))
        case BinaryMarker.utf16: return .scalar(.string(try utf16(try count(size))))
        case BinaryMarker.array: return .container(keys: nil, children: try references(try count(size)))
        case BinaryMarker.dictionary:
            let count = try count(size)
            return .container(keys: try references(count), children: try references(count))
        case 0x00, 0x70, 0x80, 0xb0, 0xc0: throw .unsupported("a null, set, UID or other object that XML has not")
        default: throw .malformed("an unknown object")
        }
    }

    /// Returns the next `count` fields of `width` bytes, and passes over them.
    private mutating func take(_ count: Int, of width: Int = 1) throws(PropertyListError) -> ArraySlice<UInt8> {
        let (size, overflow) = count.multipliedReportingOverflow(by: width)
        guard !overflow, size >= 0, offset <= trailer.tableStart, size <= trailer.tableStart - offset else {
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

    /// Reads an integer: of 1, 2 or 4 bytes without a sign, of 8 or 16 with one.
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
        guard characters.allSatisfy({ $0 < 0x80 }) else { throw .malformed("an ASCII string with other characters") }
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
        let size = trailer.referenceSize
        let references: [Int] = try take(count, of: size).bigEndianNumbers(ofSize: size)
        guard references.allSatisfy({ $0 < trailer.objectCount }) else { throw .malformed("a reference out of bounds") }
        return references
    }
}
