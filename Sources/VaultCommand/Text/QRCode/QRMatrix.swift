import Sealing

/// The modules of a QR code. Each is dark or light, and may belong to a function pattern (section 6.3).
struct QRMatrix: ~Copyable {
    let version: QRVersion
    var size: Int { version.size }

    /// The modules of the QR code, one byte each, row by row.
    private var modules: SecretBytes
    private static let dark: UInt8 = 1
    /// The flag of a module in a function pattern. Drawing data or applying a mask never changes such a module.
    private static let function: UInt8 = 2

    init(_ version: QRVersion) throws(SealingError) {
        self.version = version
        modules = try SecretBytes(zeros: version.size * version.size)
        drawPatterns()
    }

    /// Whether the module at a row and column is dark. Modules outside the code are light, like the quiet zone.
    subscript(row: Int, column: Int) -> Bool { flags(row, column) & QRMatrix.dark != 0 }

    func isFunction(_ row: Int, _ column: Int) -> Bool { flags(row, column) & QRMatrix.function != 0 }

    private func flags(_ row: Int, _ column: Int) -> UInt8 {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return 0 }
        return modules.withUnsafeBytes { $0[row * size + column] }
    }

    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool, isFunction: Bool = false) {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return }
        let offset = row * size + column
        let flags = (isDark ? QRMatrix.dark : 0) | (isFunction ? QRMatrix.function : 0)
        modules.withUnsafeMutableBytes { $0[offset] = flags }
    }

    private mutating func drawPatterns() {
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { drawSquares(row, column, radius: 4) }
        for row in version.alignmentCentres {
            // An alignment pattern that would overlap a finder pattern is omitted.
            for column in version.alignmentCentres where !isFunction(row, column) {
                drawSquares(row, column, radius: 2)
            }
        }
        // Draws the timing patterns (section 6.3.5). Where they cross an alignment pattern, both have the same colours.
        for index in 8..<size - 8 {
            set(6, index, index.isMultiple(of: 2), isFunction: true)
            set(index, 6, index.isMultiple(of: 2), isFunction: true)
        }
        drawFormat(nil)
        drawVersion()
    }

    /// Draws squares around a centre: a finder pattern with its separator (sections 6.3.3 and 6.3.4), or an alignment
    /// pattern (section 6.3.6).
    private mutating func drawSquares(_ row: Int, _ column: Int, radius: Int) {
        for down in -radius...radius {
            for right in -radius...radius {
                let distance = max(abs(down), abs(right))
                // A finder pattern is a dark 3-by-3 square inside a light ring, a dark ring, and the light separator.
                // An alignment pattern is a dark module inside a light ring and a dark ring.
                let isLight = radius == 4 ? distance == 2 || distance == 4 : distance == 1
                set(row + down, column + right, !isLight, isFunction: true)
            }
        }
    }

    /// Draws two copies of the error correction level and the mask (section 7.9.1).
    mutating func drawFormat(_ mask: QRMask?) {
        // Error correction level M is encoded as 00. If `mask` is nil, the modules for these bits are only reserved.
        let bits = mask.map { QRMatrix.withCheck($0.rawValue, degree: 10, generator: 0x537) ^ 0x5412 } ?? 0
        for index in 0..<15 {
            let isDark = bits >> index & 1 == 1
            // The format bits surround the top left finder pattern, but skip the timing patterns.
            let near = [0, 1, 2, 3, 4, 5, 7, 8]
            if index < 8 {
                set(near[index], 8, isDark, isFunction: true)
                set(8, size - 1 - index, isDark, isFunction: true)
            } else {
                set(8, near[14 - index], isDark, isFunction: true)
                set(size - 15 + index, 8, isDark, isFunction: true)
            }
        }
        // Every QR code has a dark module beside the lower left finder pattern.
        set(size - 8, 8, true, isFunction: true)
    }

    /// Draws two copies of the version number, which is present only in version 7 and higher (section 7.10).
    private mutating func drawVersion() {
        guard version.number >= 7 else { return }
        let bits = QRMatrix.withCheck(version.number, degree: 12, generator: 0x1F25)
        for index in 0..<18 {
            let near = index / 3
            let far = size - 11 + index % 3
            set(near, far, bits >> index & 1 == 1, isFunction: true)
            set(far, near, bits >> index & 1 == 1, isFunction: true)
        }
    }

    /// Returns `number` with its BCH code, the remainder of a polynomial division by `generator` (annexes C and D).
    static func withCheck(_ number: Int, degree: Int, generator: Int) -> Int {
        var remainder = number << degree
        while remainder >> degree > 0 {
            let excess = Int.bitWidth - 1 - remainder.leadingZeroBitCount - degree
            remainder ^= generator << excess
        }
        return number << degree | remainder
    }

    /// Draws codewords in pairs of columns, from right to left, alternately up and down (section 7.7.3).
    mutating func fill(with codewords: borrowing SecretBytes) {
        let bitCount = codewords.count * 8
        var bit = 0
        var isUpward = true
        // The column of the vertical timing pattern is skipped, and belongs to no pair of columns.
        for right in Array(stride(from: size - 1, to: 6, by: -2)) + [5, 3, 1] {
            for step in 0..<size {
                let row = isUpward ? size - 1 - step : step
                for column in [right, right - 1] where !isFunction(row, column) {
                    // In some QR code versions, up to seven modules are left over. They are light before masking.
                    let isDark = bit < bitCount && codewords.withUnsafeBytes { $0[bit / 8] >> (7 - bit % 8) & 1 == 1 }
                    set(row, column, isDark)
                    bit += 1
                }
            }
            isUpward.toggle()
        }
    }

    /// Inverts the modules of the QR code that the mask selects. Applying a mask twice leaves the code unchanged.
    mutating func apply(_ mask: QRMask) {
        for row in 0..<size {
            for column in 0..<size where !isFunction(row, column) && mask.selects(row, column) {
                set(row, column, !self[row, column])
            }
        }
    }
}
