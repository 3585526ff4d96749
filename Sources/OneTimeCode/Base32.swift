import Sealing

/// A decoder for base32 (RFC 4648) in the forms that services display. Either case is accepted, and spaces, dashes and
/// padding are optional. Decoding takes the same time for all letters and digits.
struct Base32Decoder: ~Copyable {
    private var data: SecretBytes
    private var size = 0
    private var bits: UInt32 = 0
    private var bitCount = 0
    private var characterCount = 0
    private var paddingCount = 0
    private var isValid = true

    /// - Parameter limit: the maximum number of characters.
    init(upTo limit: Int) throws(OneTimeKeyError) {
        do { data = try SecretBytes(zeros: limit / 8 * 5 + 5) } catch { throw .outOfMemory }
    }

    mutating func add(_ character: UInt8) {
        switch character {
        case UInt8(ascii: " "), UInt8(ascii: "-"): return
        case UInt8(ascii: "="): paddingCount += 1
        default: add(digit: character)
        }
    }

    private mutating func add(digit character: UInt8) {
        let letter = (character | 0x20) &- UInt8(ascii: "a")
        let number = character &- UInt8(ascii: "2")
        let isLetter = Self.mask(letter < 26)
        let isNumber = Self.mask(number < 6)
        isValid = isValid && (isLetter | isNumber) != 0 && paddingCount == 0
        characterCount += 1
        bits = bits << 5 | UInt32(letter & isLetter | (number &+ 26) & isNumber)
        bitCount += 5
        guard bitCount >= 8 else { return }
        bitCount -= 8
        let byte = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
        data.withUnsafeMutableBytes { [size] data in if size < data.count { data[size] = byte } }
        size += 1
    }

    private static func mask(_ isSet: Bool) -> UInt8 { 0 &- (isSet ? 1 : 0) }

    /// Returns the bytes; nil if the text is not base32 or is empty. Bits after the last whole byte are ignored, since
    /// some services choose each character at random.
    consuming func finish() -> SecretBytes? {
        // No complete base32 text has exactly 1, 3 or 6 characters after its last group of eight.
        let isTruncated = [1, 3, 6].contains(characterCount % 8)
        guard isValid, !isTruncated, paddingCount < 8, size > 0, size <= data.count else { return nil }
        var data = data
        data.truncate(to: size)
        return data
    }
}
