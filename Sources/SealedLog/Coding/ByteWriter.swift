/// Writes the fields of Format.md one after the other.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init(reserving capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    var count: Int { bytes.count }

    package mutating func byte(_ value: UInt8) {
        bytes.append(value)
    }

    mutating func integer(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    package mutating func varint(_ value: Int) {
        varint(UInt64(value))
    }

    /// An offset or length in units of 16 bytes.
    mutating func units(_ value: UInt64) {
        precondition(value.isMultiple(of: 16))
        varint(value / 16)
    }

    package mutating func append(_ other: some Sequence<UInt8>) {
        bytes.append(contentsOf: other)
    }

    mutating func append(_ other: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: other)
    }

    package mutating func text(_ text: String) {
        varint(text.utf8.count)
        append(text.utf8)
    }

    mutating func zeros(_ count: Int) {
        bytes.append(contentsOf: repeatElement(0, count: count))
    }

    /// Zeros to the next multiple of 16.
    mutating func pad() {
        zeros(Limits.aligned(count) - count)
    }
}
