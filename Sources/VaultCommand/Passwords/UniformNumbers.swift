import Sealing

/// Draws numbers below a bound, each as likely as the others, from random bytes in guarded memory.
struct UniformNumbers: ~Copyable {
    /// 128 numbers, enough for most passwords.
    private static let poolSize = 256

    private let fill: (UnsafeMutableRawBufferPointer) -> Void
    private var pool: SecretBytes
    private var used = UniformNumbers.poolSize

    /// - Parameter fill: fills memory with random bytes.
    init(fill: @escaping (UnsafeMutableRawBufferPointer) -> Void = RandomBytes.fill) throws {
        self.fill = fill
        pool = try SecretBytes(zeros: UniformNumbers.poolSize)
    }

    /// - Parameter bound: from 1 to 65,536.
    mutating func next(below bound: Int) -> Int {
        // There are 65,536 numbers of 16 bits. Those past the last whole multiple of the bound are drawn again: their
        // remainders would make the first numbers more likely than the others.
        let limit = 65_536 - 65_536 % bound
        while true {
            let number = draw()
            if number < limit { return number % bound }
        }
    }

    private mutating func draw() -> Int {
        if used == UniformNumbers.poolSize {
            pool.withUnsafeMutableBytes(fill)
            used = 0
        }
        defer { used += 2 }
        return Int(pool.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: used, as: UInt16.self) })
    }
}
