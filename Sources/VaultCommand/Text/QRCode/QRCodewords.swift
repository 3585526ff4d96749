import Sealing

/// The codewords of a QR code in the order in which they are drawn (sections 7.4 to 7.6).
enum QRCodewords {
    /// - Parameter payload: the bytes to encode, at most as many as a QR code of this version can hold.
    static func encode(_ payload: RawSpan, for version: QRVersion) throws(SealingError) -> SecretBytes {
        let data = try dataCodewords(payload, version)
        let generator = generator(ofDegree: version.checkSize)
        let blocks = version.blocks
        let checkSize = version.checkSize
        var checks = try SecretBytes(zeros: blocks.count * checkSize)
        var codewords = try SecretBytes(zeros: version.codewords)
        data.withUnsafeBytes { data in
            checks.withUnsafeMutableBytes { checks in
                for (index, block) in blocks.enumerated() {
                    let check = checks[index * checkSize..<(index + 1) * checkSize]
                    divide(data[block], by: generator, into: UnsafeMutableRawBufferPointer(rebasing: check))
                }
                codewords.withUnsafeMutableBytes { codewords in
                    // The blocks are interleaved: first every block's first codeword, and so on (section 7.6).
                    var end = 0
                    for position in 0..<(blocks.last?.count ?? 0) {
                        for block in blocks where position < block.count {
                            codewords[end] = data[block.lowerBound + position]
                            end += 1
                        }
                    }
                    for position in 0..<checkSize {
                        for index in blocks.indices {
                            codewords[end] = checks[index * checkSize + position]
                            end += 1
                        }
                    }
                }
            }
        }
        return codewords
    }

    /// Returns a QR code's data: mode, length, payload, terminator and padding (sections 7.4.2, 7.4.5 and 7.4.10).
    private static func dataCodewords(_ payload: RawSpan, _ version: QRVersion) throws(SealingError) -> SecretBytes {
        var codewords = try SecretBytes(zeros: version.dataCodewords)
        codewords.withUnsafeMutableBytes { codewords in
            // The QR code's mode has only four bits, so everything after it is shifted by half a byte.
            var half = 0b0100 as UInt8
            var end = 0
            func append(_ byte: UInt8) {
                codewords[end] = half << 4 | byte >> 4
                half = byte & 0xF
                end = end + 1
            }
            if version.countSize == 2 { append(UInt8(truncatingIfNeeded: payload.byteCount >> 8)) }
            append(UInt8(truncatingIfNeeded: payload.byteCount))
            payload.withUnsafeBytes { $0.forEach(append) }
            // The QR code's terminator, four zero bits, completes the last byte.
            append(0)
            for offset in end..<codewords.count { codewords[offset] = (offset - end).isMultiple(of: 2) ? 0xEC : 0x11 }
        }
        return codewords
    }

    /// Returns the coefficients of (x - α⁰)(x - α¹)…, highest power first, without the leading coefficient, which is 1.
    static func generator(ofDegree degree: Int) -> [UInt8] {
        let field = ByteField.qrCode
        var generator = [UInt8](repeating: 0, count: degree)
        var root: UInt8 = 1
        // The product begins as the polynomial 1, whose only coefficient is stored last.
        if let last = generator.indices.last { generator[last] = 1 }
        for _ in 0..<degree {
            for index in generator.indices {
                let lower = index + 1 < degree ? generator[index + 1] : 0
                generator[index] = field.product(generator[index], root) ^ lower
            }
            root = field.product(root, 2)
        }
        return generator
    }

    /// Divides the data, as a polynomial multiplied by x to the power of the generator's degree, by the generator.
    ///
    /// - Parameter remainder: receives the remainder. On entry, it must contain a zero for each generator coefficient.
    static func divide(
        _ data: Slice<UnsafeRawBufferPointer>, by generator: [UInt8], into remainder: UnsafeMutableRawBufferPointer
    ) {
        for byte in data {
            let factor = byte ^ remainder[0]
            for index in remainder.indices {
                let next = index + 1 < remainder.count ? remainder[index + 1] : 0
                remainder[index] = next ^ ByteField.qrCode.product(generator[index], factor)
            }
        }
    }
}
