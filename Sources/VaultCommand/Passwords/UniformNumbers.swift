import Sealing

/// Draws numbers below a bound, all equally likely, from random bytes in guarded memory.
struct UniformNumbers: ~Copyable {
    /// The pool's size in bytes. 128 numbers are enough for most passwords.
    private static let poolSize = 256

    private let fill: (UnsafeMutableRawBufferPointer) -> Void
    private var pool: SecretBytes
    private var used = UniformNumbers.poolSize

    /// - Parameter fill: fills memory with random bytes.
    init(fill: @escaping (UnsafeMutableRawBufferPointer) -> Void = RandomBytes.fill) throws {
        self.fill = fill
        pool = try SecretBytes(zeros: UniformNumbers.poolSize)
    }

    /// - Parameter bound: the bound, from 1 to 65,536.
    mutating func next(below bound: Int) -> Int {
        // 16 bits give 65,536 numbers. Those past the last whole multiple of the bound are drawn again: their
        // remainders would make small numbers more likely.
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
