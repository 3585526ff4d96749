import FoundationEssentials

/// Writes a tree as a binary property list. Each value becomes an object of its own; equal ones are not shared.
struct BinaryWriter {
    /// The objects in their order. A container's children, keys first, follow each other somewhere after it.
    private var objects: [(value: StoredValue, depth: Int)] = []
    private var output = BinaryTrailer.header
    private var offsets: [Int] = []
    private var valueCount = 1

    mutating func write(_ tree: StoredValue) throws(PropertyListError) -> [UInt8] {
        // The number of objects decides how wide references are, so the objects are gathered first.
        let firstChildren = try gather(tree)
        let referenceSize = width(objects.count)
        for (object, firstChild) in zip(objects, firstChildren) {
            offsets.append(output.count)
            try write(object.value, firstChild, referenceSize)
            try checkSize()
        }
        let tableStart = output.count
        let offsetSize = width(tableStart)
        for offset in offsets { append(offset, offsetSize) }
        output.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)])
        for field in [objects.count, 0, tableStart] { append(field, 8) }
        try checkSize()
        return output
    }

    /// Lists all objects, level by level, and returns the index of the first child of each.
    private mutating func gather(_ tree: StoredValue) throws(PropertyListError) -> [Int] {
        objects = [(tree, 1)]
        var firstChildren: [Int] = []
        while firstChildren.count < objects.count {
            let (value, depth) = objects[firstChildren.count]
            firstChildren.append(objects.count)
            var children: [StoredValue] = []
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
            guard valueCount <= PropertyListFormat.maximumValues else { throw .tooManyValues }
            objects.append(contentsOf: children.map { ($0, depth + 1) })
        }
        return firstChildren
    }

    private mutating func write(
        _ value: StoredValue, _ firstChild: Int, _ referenceSize: Int
    ) throws(PropertyListError) {
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
        case .string(let string): write(string)
        case .array(let values):
            mark(BinaryMarker.array, values.count)
            for child in 0..<values.count { append(firstChild + child, referenceSize) }
        case .dictionary(let entries):
            mark(BinaryMarker.dictionary, entries.count)
            for child in 0..<entries.count * 2 { append(firstChild + child, referenceSize) }
        }
    }

    private mutating func write(_ number: Int128) {
        // Integers of fewer than 8 bytes have no sign, those of 8 have one.
        let power = number < 0 ? 3 : number > Int64.max ? 4 : width(Int(number)).trailingZeroBitCount
        output.append(BinaryMarker.integer | UInt8(power))
        append(number, 1 << power)
    }

    private mutating func write(_ string: String) {
        if string.utf8.allSatisfy({ $0 < 0x80 }) {
            mark(BinaryMarker.ascii, string.utf8.count)
            output.append(contentsOf: string.utf8)
        } else {
            mark(BinaryMarker.utf16, string.utf16.count)
            for unit in string.utf16 { append(unit, 2) }
        }
    }

    private mutating func mark(_ type: UInt8, _ count: Int) {
        output.append(type | min(UInt8(clamping: count), BinaryMarker.sizeFollows))
        if count >= Int(BinaryMarker.sizeFollows) { write(Int128(count)) }
    }

    /// Appends the lowest `size` bytes of a number, the highest of them first.
    private mutating func append(_ number: some FixedWidthInteger, _ size: Int) {
        for shift in stride(from: 8 * (size - 1), through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// Returns how many bytes a number up to this one takes: 1, 2, 4 or 8.
    private func width(_ number: Int) -> Int {
        number <= 0xff ? 1 : number <= 0xffff ? 2 : number <= 0xffff_ffff ? 4 : 8
    }

    private func checkSize() throws(PropertyListError) {
        guard output.count <= PropertyListFormat.maximumSize else { throw .tooManyBytes }
    }
}
