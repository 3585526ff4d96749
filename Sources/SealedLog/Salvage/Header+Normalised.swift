extension Header {
    static let slotCountPlace = 12
    private static let reservedRanges = [128..<256, 2_816..<4_032]

    /// The 4,096 bytes of a header with everything put right that has only one right value: magic, version, reserved
    /// bytes, unused slots. The hint is left out.
    static func normalised(_ bytes: [UInt8], slotCount: Int) -> [UInt8] {
        var header = Array(bytes[..<hintOffset]) + [UInt8](repeating: 0, count: Hint.size)
        var start = ByteWriter(reserving: 12)
        start.append(magic)
        start.integer(version)
        header.replaceSubrange(..<start.count, with: start.bytes)
        for range in reservedRanges { header.clear(range) }
        header[slotCountPlace] = UInt8(truncatingIfNeeded: slotCount)
        header.clear(slotCountPlace + 1..<slotCountPlace + 4)
        for index in 0..<Limits.slotCount {
            let offset = slotPlace(index)
            if index < slotCount {
                header.normaliseSlot(at: offset)
            } else {
                header.clear(offset..<offset + Limits.slotSize)
            }
        }
        return header
    }

    /// The slots in a header's bytes that can be one, whatever the rest of it says.
    static func slots(in bytes: [UInt8]) -> [KeySlot] {
        var header = bytes
        return (0..<Limits.slotCount).compactMap { index in
            let offset = slotPlace(index)
            header.normaliseSlot(at: offset)
            var reader = ByteReader(header, in: offset..<offset + Limits.slotSize)
            return try? reader.keySlot()
        }
    }

    private static func slotPlace(_ index: Int) -> Int { slotsOffset + index * Limits.slotSize }
}

extension [UInt8] {
    fileprivate mutating func clear(_ range: Range<Int>) {
        replaceSubrange(range, with: repeatElement(0, count: range.count))
    }

    fileprivate mutating func normaliseSlot(at offset: Int) {
        clear(offset + 1..<offset + 8)
        clear(offset + 144..<offset + Limits.slotSize)
        if (1...4).contains(self[offset]) { clear(offset + 112..<offset + 144) }
    }
}
