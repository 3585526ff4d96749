import Sealing

/// What a guess at a key file costs that was not generated: its bytes go through Argon2id (RFC 9106).
///
/// A generated key file cannot be guessed, and is not stretched.
public struct KeyFileCost: Hashable, Sendable {
    /// Passes over the memory, 1 to 10.
    public var passes: Int
    /// Memory in bytes, at least 8 KiB. Passes times memory is at most 768 MiB.
    public var memory: Int

    /// Names a cost.
    public init(passes: Int, memory: Int) {
        self.passes = passes
        self.memory = memory
    }

    /// 3 passes over 64 MiB, the second recommendation of RFC 9106: about 0.1 s.
    public static let standard = KeyFileCost(passes: 3, memory: 64 << 20)

    init(_ limits: KeyDerivation.StretchLimits) {
        self.init(passes: Int(clamping: limits.passes), memory: Int(clamping: limits.memory))
    }

    var limits: KeyDerivation.StretchLimits {
        // Negative numbers are out of bounds either way.
        KeyDerivation.StretchLimits(passes: UInt64(clamping: passes), memory: UInt64(clamping: memory))
    }
}
