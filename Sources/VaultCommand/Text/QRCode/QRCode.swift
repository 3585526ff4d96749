import Sealing

/// A QR code for a terminal: model 2, byte mode, error correction level M, versions 1 to 10, at most 213 bytes. Section
/// numbers refer to ISO/IEC 18004:2015.
///
/// The code reveals its secret to anyone who sees it. All data derived from the secret is in guarded memory: codewords,
/// modules and text. However, the time taken to choose the mask depends on the secret.
struct QRCode: ~Copyable {
    static var capacity: Int { QRVersion.largest.capacity }

    /// The width, in modules, of the light border that scanners need to find the code (section 6.3.8).
    static let quietZone = 4

    let version: QRVersion
    let mask: QRMask
    let matrix: QRMatrix

    /// Creates the QR code of a payload.
    ///
    /// - Parameter mask: the mask pattern; nil to choose it by the standard's rules.
    /// - Throws: ``SealingError/Code/length`` if `payload` has more than ``capacity`` bytes;
    ///   ``SealingError/Code/outOfMemory``.
    init(_ payload: RawSpan, mask: QRMask? = nil) throws(SealingError) {
        guard let version = QRVersion.smallest(for: payload.byteCount) else { throw SealingError(.length) }
        var matrix = try QRMatrix(version)
        try matrix.fill(with: QRCodewords.encode(payload, for: version))
        let chosen = mask ?? QRMask.best(for: &matrix)
        matrix.apply(chosen)
        matrix.drawFormat(chosen)
        self.version = version
        self.mask = chosen
        self.matrix = matrix
    }
}

/// The size of a QR code, which determines how its codewords are divided into blocks at level M.
struct QRVersion: Hashable {
    /// The standard's number for this size of QR code, from 1 to 10.
    let number: Int
    /// The total number of codewords. Like ``blockCount`` and ``checkSize``, it is from section 7.5.1, table 9.
    let codewords: Int
    let blockCount: Int
    /// The number of error correction codewords in each block.
    let checkSize: Int

    private static let all = [
        QRVersion(number: 1, codewords: 26, blockCount: 1, checkSize: 10),
        QRVersion(number: 2, codewords: 44, blockCount: 1, checkSize: 16),
        QRVersion(number: 3, codewords: 70, blockCount: 1, checkSize: 26),
        QRVersion(number: 4, codewords: 100, blockCount: 2, checkSize: 18),
        QRVersion(number: 5, codewords: 134, blockCount: 2, checkSize: 24),
        QRVersion(number: 6, codewords: 172, blockCount: 4, checkSize: 16),
        QRVersion(number: 7, codewords: 196, blockCount: 4, checkSize: 18),
        QRVersion(number: 8, codewords: 242, blockCount: 4, checkSize: 22),
        QRVersion(number: 9, codewords: 292, blockCount: 5, checkSize: 22),
        largest,
    ]

    static let largest = QRVersion(number: 10, codewords: 346, blockCount: 5, checkSize: 26)

    static func smallest(for count: Int) -> QRVersion? { all.first { count <= $0.capacity } }

    /// The number of modules per side (section 6.3.1).
    var size: Int { 4 * number + 17 }
    var dataCodewords: Int { codewords - blockCount * checkSize }

    /// The size in bytes of the field that contains the payload's length (section 7.4.1, table 3).
    var countSize: Int { number < 10 ? 1 : 2 }

    /// The maximum number of payload bytes. The mode and the terminator have 4 bits each, the length `countSize` bytes.
    var capacity: Int { dataCodewords - countSize - 1 }

    /// The data codewords of each block. If they cannot be divided evenly, each of the last blocks has one more.
    var blocks: [Range<Int>] {
        let (size, longBlocks) = dataCodewords.quotientAndRemainder(dividingBy: blockCount)
        var start = 0
        return (0..<blockCount).map { block in
            let end = start + size + (block < blockCount - longBlocks ? 0 : 1)
            defer { start = end }
            return start..<end
        }
    }

    /// The coordinates of the alignment patterns' centres, for rows and columns alike (annex E, table E.1).
    var alignmentCentres: [Int] {
        switch number {
        case 1: []
        case 2...6: [6, size - 7]
        default: [6, size / 2, size - 7]
        }
    }
}
