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
    }

    private var objects: BinaryObjectReader
    private var finished: [Int: Subtree] = [:]
    private var containers: [Container] = []
    /// The containers' references, to detect one that holds itself.
    private var open: Set<Int> = []

    /// - Throws: ``PropertyListError``: `malformed`, `unsupported`, `tooDeep` or `tooLarge`.
    static func parse(_ bytes: [UInt8]) throws(PropertyListError) -> StoredValue {
        let trailer = try BinaryTrailer(bytes)
        var reader = BinaryReader(objects: BinaryObjectReader(bytes, trailer))
        return try reader.tree(trailer.root)
    }

    private init(objects: BinaryObjectReader) {
        self.objects = objects
    }

    private mutating func tree(_ root: Int) throws(PropertyListError) -> StoredValue {
        var reference = root
        while true {
            // Down to a subtree that is complete, then up again as far as that completes containers.
            guard var subtree = try begin(reference) else {
                reference = nextChild()
                continue
            }
            while let last = containers.indices.last {
                try add(subtree, to: last)
                if containers[last].values.count < containers[last].children.count { break }
                subtree = try close()
            }
            if containers.isEmpty { return subtree.value }
            reference = nextChild()
        }
    }

    /// Returns the child that the innermost container waits for; there is one.
    private func nextChild() -> Int {
        let container = containers[containers.count - 1]
        return container.children[container.values.count]
    }

    /// Returns the tree below an object, or nil if it is a container that was opened.
    private mutating func begin(_ reference: Int) throws(PropertyListError) -> Subtree? {
        if let subtree = finished[reference] { return subtree }
        guard !open.contains(reference) else { throw .malformed("a container that holds itself") }
        var container: Container
        switch try objects.object(reference) {
        case .scalar(let value): return keep(Subtree(value: value), for: reference)
        case .array(let children): container = Container(reference: reference, keys: nil, children: children)
        case .dictionary(let keys, let children):
            container = Container(reference: reference, keys: try strings(keys), children: children)
        }
        guard containers.count < StoredValue.maximumDepth else { throw .tooDeep }
        guard container.children.count < PropertyListFormat.maximumValues else { throw .tooManyValues }
        container.values.reserveCapacity(container.children.count)
        open.insert(reference)
        containers.append(container)
        return container.children.isEmpty ? try close() : nil
    }

    private mutating func keep(_ subtree: Subtree, for reference: Int) -> Subtree {
        finished[reference] = subtree
        return subtree
    }

    private mutating func strings(_ references: [Int]) throws(PropertyListError) -> [String] {
        var strings: [String] = []
        for reference in references {
            if finished[reference] == nil, case .scalar(let value) = try objects.object(reference) {
                finished[reference] = Subtree(value: value)
            }
            guard case .string(let string) = finished[reference]?.value else {
                throw .malformed("a key that is not a string")
            }
            strings.append(string)
        }
        return strings
    }

    private mutating func add(_ subtree: Subtree, to index: Int) throws(PropertyListError) {
        containers[index].values.append(subtree.value)
        containers[index].valueCount += subtree.valueCount
        containers[index].depth = max(containers[index].depth, subtree.depth + 1)
        guard containers[index].valueCount <= PropertyListFormat.maximumValues else { throw .tooManyValues }
        // A subtree that was read before may be used at a greater depth now.
        guard index + 1 + subtree.depth <= StoredValue.maximumDepth else { throw .tooDeep }
    }

    /// Removes the innermost container, which has all its children.
    private mutating func close() throws(PropertyListError) -> Subtree {
        let container = containers.removeLast()
        open.remove(container.reference)
        var value = StoredValue.array(container.values)
        if let keys = container.keys {
            let entries = Dictionary(zip(keys, container.values)) { first, _ in first }
            guard entries.count == keys.count else { throw .malformed("a key twice in a dictionary") }
            value = .dictionary(entries)
        }
        let subtree = Subtree(value: value, valueCount: container.valueCount, depth: container.depth)
        return keep(subtree, for: container.reference)
    }
}

/// One object of a binary property list, its children not yet read.
private enum BinaryObject {
    case scalar(StoredValue)
    case array([Int])
    case dictionary(keys: [Int], values: [Int])
}

/// Reads single objects of a binary property list. Total: whatever the bytes are, a call returns an object or throws.
private struct BinaryObjectReader {
    private let bytes: [UInt8]
    private let trailer: BinaryTrailer
    /// Offset of the next field, while an object is read.
    private var offset = 0
    /// Bytes of objects that may still be read. Each object is read once, so only objects that overlap use it up. No
    /// writer produces them, and they could make a small file cost any time and memory.
    private var allowance: Int

    init(_ bytes: [UInt8], _ trailer: BinaryTrailer) {
        self.bytes = bytes
        self.trailer = trailer
        allowance = trailer.tableStart - BinaryTrailer.header.count
    }

    /// - Parameter reference: below the number of objects.
    mutating func object(_ reference: Int) throws(PropertyListError) -> BinaryObject {
        let entry = trailer.tableStart + reference * trailer.offsetSize
        offset = Int(clamping: number(entry..<entry + trailer.offsetSize))
        guard offset >= BinaryTrailer.header.count else { throw .malformed("an offset out of bounds") }
        let marker = bytes[try take(1, of: 1).lowerBound]
        let size = marker & 0x0f
        switch marker & 0xf0 {
        case 0x00 where marker == BinaryMarker.no || marker == BinaryMarker.yes:
            return .scalar(.boolean(marker == BinaryMarker.yes))
        case BinaryMarker.integer where size <= 4: return .scalar(.integer(try integer(1 << Int(size))))
        case BinaryMarker.real where size == 2:
            return .scalar(.real(Double(Float(bitPattern: UInt32(number(try take(4, of: 1)))))))
        case BinaryMarker.real where size == 3: return .scalar(.real(try double()))
        case 0x30 where marker == BinaryMarker.date:
            return .scalar(.date(Date(timeIntervalSinceReferenceDate: try double())))
        case BinaryMarker.data: return .scalar(.data(Data(bytes[try take(try count(size), of: 1)])))
        case BinaryMarker.ascii: return .scalar(.string(try ascii(try count(size))))
        case BinaryMarker.utf16: return .scalar(.string(try utf16(try count(size))))
        case BinaryMarker.array: return .array(try references(try count(size)))
        case BinaryMarker.dictionary:
            let count = try count(size)
            return .dictionary(keys: try references(count), values: try references(count))
        case 0x00, 0x70, 0x80, 0xb0, 0xc0: throw .unsupported("a null, set, UID or other object that XML has not")
        default: throw .malformed("an unknown object")
        }
    }

    /// Passes over `count` fields of `width` bytes, and returns their range.
    private mutating func take(_ count: Int, of width: Int) throws(PropertyListError) -> Range<Int> {
        let (size, overflow) = count.multipliedReportingOverflow(by: width)
        guard !overflow, size >= 0, offset <= trailer.tableStart, size <= trailer.tableStart - offset else {
            throw .malformed("an object out of bounds")
        }
        allowance -= size
        guard allowance >= 0 else { throw .malformed("objects that overlap") }
        defer { offset += size }
        return offset..<offset + size
    }

    private func number(_ range: Range<Int>) -> UInt64 {
        bytes[range].bigEndianNumber
    }

    private mutating func count(_ size: UInt8) throws(PropertyListError) -> Int {
        guard size == BinaryMarker.sizeFollows else { return Int(size) }
        let marker = bytes[try take(1, of: 1).lowerBound]
        guard marker & 0xf0 == BinaryMarker.integer, marker & 0x0f <= 3 else {
            throw .malformed("a size that is not an integer")
        }
        return Int(clamping: number(try take(1 << Int(marker & 0x0f), of: 1)))
    }

    /// Reads an integer: of 1, 2 or 4 bytes without a sign, of 8 or 16 with one.
    private mutating func integer(_ size: Int) throws(PropertyListError) -> Int128 {
        let range = try take(size, of: 1)
        guard size == 16 else {
            let value = number(range)
            return size == 8 ? Int128(Int64(bitPattern: value)) : Int128(value)
        }
        let middle = range.lowerBound + 8
        let high = UInt128(number(range.lowerBound..<middle)) << 64
        let value = Int128(bitPattern: high | UInt128(number(middle..<range.upperBound)))
        guard StoredValue.integers.contains(value) else { throw .unsupported("an integer beyond 64 bits") }
        return value
    }

    private mutating func double() throws(PropertyListError) -> Double {
        Double(bitPattern: number(try take(8, of: 1)))
    }

    private mutating func ascii(_ count: Int) throws(PropertyListError) -> String {
        let characters = bytes[try take(count, of: 1)]
        guard characters.allSatisfy({ $0 < 0x80 }) else { throw .malformed("an ASCII string with other characters") }
        return String(decoding: characters, as: UTF8.self)
    }

    private mutating func utf16(_ count: Int) throws(PropertyListError) -> String {
        let range = try take(count, of: 2)
        let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map { UInt16(number($0..<$0 + 2)) }
        guard let string = String(validating: units, as: UTF16.self) else {
            throw .malformed("a UTF-16 string with an unpaired surrogate")
        }
        return string
    }

    private mutating func references(_ count: Int) throws(PropertyListError) -> [Int] {
        let range = try take(count, of: trailer.referenceSize)
        let references = stride(from: range.lowerBound, to: range.upperBound, by: trailer.referenceSize).map {
            Int(clamping: number($0..<$0 + trailer.referenceSize))
        }
        guard references.allSatisfy({ $0 < trailer.objectCount }) else { throw .malformed("a reference out of bounds") }
        return references
    }
}
