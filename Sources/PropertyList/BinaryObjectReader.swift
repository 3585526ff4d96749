import FoundationEssentials

/// One object of a binary property list, its children not yet read.
enum BinaryObject {
    case scalar(StoredValue)
    case array([Int])
    case dictionary(keys: [Int], values: [Int])
}

/// Reads single objects of a binary property list. Total: whatever the bytes are, a call returns an object or throws.
struct BinaryObjectReader {
    private let bytes: [UInt8]
    private let trailer: BinaryTrailer
    /// Offset of the next field, while an object is read.
    private var offset = 0
    /// Bytes of objects that may still be read. Each object is read once, so only objects that overlap use it up. No writer
    /// produces them, and they could make a small file cost any time and memory.
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
        guard allowance >= 0 else { throw .malformed("objects that lie over each other") }
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
            throw .malformed("a size that is no integer")
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
        guard characters.allSatisfy({ $0 < 0x80 }) else { throw .malformed("an ASCII string that is none") }
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
