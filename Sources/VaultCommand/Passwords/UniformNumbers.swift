import Sealing

/// A source of equally likely numbers below a bound, from random bytes in guarded memory.
struct UniformNumbers: ~Copyable {
    /// The pool's size in bytes. It is enough for 128 numbers, and so for most passwords.
    private static let poolSize = 256

    private let fill: (UnsafeMutableRawBufferPointer) -> Void
    private var pool: SecretBytes
    private var used = UniformNumbers.poolSize

    /// - Parameter fill: fills a buffer with random bytes.
    init(fill: @escaping (UnsafeMutableRawBufferPointer) -> Void = RandomBytes.fill) throws {
        self.fill = fill
        pool = try SecretBytes(zeros: UniformNumbers.poolSize)
    }

    /// - Parameter bound: the bound, from 1 to 65,536.
    mutating func next(below bound: Int) -> Int {
        // 16 bits have 65,536 values. Values from the last whole multiple of the bound on are drawn again, because
        // their remainders would make small numbers more likely.
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
