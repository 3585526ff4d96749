import FoundationEssentials

/// A writer of binary property lists. Each value becomes a separate object; equal values are not shared.
struct BinaryWriter {
    private(set) var output = BinaryMarker.header
    private var referenceSize = 0
    /// The number of the next container's first child. The objects list children in the order of their containers.
    private var nextChild = 1

    init(_ tree: StoredValue) throws(PropertyListError) {
        // The number of objects determines the size of a reference in bytes, so all objects are listed first.
        let objects = try BinaryWriter.objects(of: tree)
        referenceSize = BinaryWriter.width(objects.count)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(output.count)
            try write(object.value)
            try PropertyListFormat.check(size: output.count)
        }
        let tableStart = output.count
        let offsetSize = BinaryWriter.width(tableStart)
        for offset in offsets { append(offset, offsetSize) }
        output.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)])
        for field in [objects.count, 0, tableStart] { append(field, 8) }
        try PropertyListFormat.check(size: output.count)
    }

    /// Returns all objects, level by level. A container's children are consecutive, and keys come before values.
    private static func objects(of tree: StoredValue) throws(PropertyListError) -> [(value: StoredValue, depth: Int)] {
        var objects = [(value: tree, depth: 1)]
        var index = 0
        var valueCount = 1
        while index < objects.count {
            let (value, depth) = objects[index]
            index += 1
            let children: [StoredValue]
            switch value {
            case .array(let values): children = values
            case .dictionary(let entries):
                let sorted = entries.sortedByBytes
                objects.append(contentsOf: sorted.map { (.string($0.key), depth) })
                children = sorted.map(\.value)
            default: continue
            }
            guard depth <= StoredValue.maximumDepth else { throw .tooDeep }
            valueCount += children.count
            try PropertyListFormat.check(valueCount: valueCount)
            objects.append(contentsOf: children.map { ($0, depth + 1) })
        }
        return objects
    }

    private mutating func write(_ value: StoredValue) throws(PropertyListError) {
        switch value {
        case .null: throw .unrepresentable("a null")
        case .boolean(let flag): output.append(flag ? BinaryMarker.yes : BinaryMarker.no)
        case .integer(let number):
            guard StoredValue.integers.contains(number) else { throw .unrepresentable("an integer beyond 64 bits") }
            write(number)
        case .real(let number):
            output.append(BinaryMarker.real | 3)
            append(number.bitPattern, 8)
        case .date(let date):
            output.append(BinaryMarker.date)
            append(date.timeIntervalSinceReferenceDate.bitPattern, 8)
        case .data(let data), .untyped(let data):
            mark(BinaryMarker.data, data.count)
            output.append(contentsOf: data)
        case .string(let string) where string.utf8.allSatisfy({ $0 < 0x80 }):
            mark(BinaryMarker.ascii, string.utf8.count)
            output.append(contentsOf: string.utf8)
        case .string(let string):
            mark(BinaryMarker.utf16, string.utf16.count)
            for unit in string.utf16 { append(unit, 2) }
        case .array(let values): writeContainer(BinaryMarker.array, values.count, childCount: values.count)
        case .dictionary(let entries):
            writeContainer(BinaryMarker.dictionary, entries.count, childCount: entries.count * 2)
        }
    }

    private mutating func write(_ number: Int128) {
        // Integers of fewer than 8 bytes are unsigned. Those of 8 bytes are signed, so larger numbers need 16 bytes.
        let power = number < 0 ? 3 : number > Int64.max ? 4 : BinaryWriter.width(Int(number)).trailingZeroBitCount
        output.append(BinaryMarker.integer | UInt8(power))
        append(number, 1 << power)
    }

    private mutating func writeContainer(_ type: UInt8, _ count: Int, childCount: Int) {
        mark(type, count)
        for child in nextChild..<nextChild + childCount { append(child, referenceSize) }
        nextChild += childCount
    }

    private mutating func mark(_ type: UInt8, _ count: Int) {
        output.append(type | min(UInt8(clamping: count), BinaryMarker.sizeFollows))
        if count >= Int(BinaryMarker.sizeFollows) { write(Int128(count)) }
    }

    /// Appends the lowest `size` bytes of a number, big-endian.
    private mutating func append(_ number: some FixedWidthInteger, _ size: Int) {
        for shift in stride(from: 8 * (size - 1), through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// Returns the size in bytes of a field that can hold numbers up to this one: 1, 2, 4 or 8.
    private static func width(_ number: Int) -> Int {
        number <= 0xff ? 1 : number <= 0xffff ? 2 : number <= 0xffff_ffff ? 4 : 8
    }
}
