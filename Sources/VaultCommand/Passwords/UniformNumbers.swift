import Sealing

/// A source of random numbers below a given bound, all equally likely. Its random bytes are in guarded memory.
struct UniformNumbers: ~Copyable {
    /// The pool's size in bytes. It holds 128 numbers, which is enough for most passwords.
    private static let poolSize = 256

    private let fill: (UnsafeMutableRawBufferPointer) -> Void
    private var pool: SecretBytes
    private var used = UniformNumbers.poolSize

    /// - Parameter fill: a function that fills a buffer with random bytes.
    init(fill: @escaping (UnsafeMutableRawBufferPointer) -> Void = RandomBytes.fill) throws {
        self.fill = fill
        pool = try SecretBytes(zeros: UniformNumbers.poolSize)
    }

    /// - Parameter bound: the exclusive upper bound, from 1 to 65,536.
    mutating func next(below bound: Int) -> Int {
        // A 16-bit number has 65,536 values. Values at or above the largest multiple of the bound are drawn again,
        // because their remainders would make small numbers more likely.
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
