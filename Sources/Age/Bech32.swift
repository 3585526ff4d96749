import Sealing

/// Bech32 (BIP 173) as age uses it for keys. A Bech32 string consists of a readable prefix, a `1`, the data and a
/// checksum. The limit of 90 characters in BIP 173 does not apply. Either case is accepted, but not a mixture.
///
/// The data may be a secret key. It is encoded and decoded in place, in time that does not depend on its value.
enum Bech32 {
    enum LetterCase { case lower, upper }

    private static let checksumSize = 6
    /// The maximum length of a Bech32 string. A post-quantum recipient has about 2,000 characters.
    private static let textLimit = 16_384
    private static let separator = UInt8(ascii: "1")

    static func textSize(prefix: String, dataSize: Int) -> Int {
        prefix.utf8.count + 1 + (dataSize * 8 + 4) / 5 + checksumSize
    }

    /// Encodes `data`. Throws `malformed` unless `text` has exactly the required size. `prefix` must be in lower case.
    static func encode(
        _ data: UnsafeRawBufferPointer, prefix: String, _ letterCase: LetterCase,
        into text: UnsafeMutableRawBufferPointer
    ) throws(AgeError) {
        guard text.count == textSize(prefix: prefix, dataSize: data.count) else {
            throw .malformed("a length out of bounds")
        }
        let start = prefix.utf8.count + 1
        let end = text.count - checksumSize
        text.copyBytes(from: Array(prefix.utf8) + [separator])
        // The data is split into groups of five bits, one per character. The last group is padded with zeros.
        var bits: UInt32 = 0
        var count = 0
        var position = start
        for byte in data {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text[position] = UInt8(truncatingIfNeeded: bits >> UInt32(count)) & 31
                position += 1
            }
        }
        if count > 0 { text[position] = UInt8(truncatingIfNeeded: bits << UInt32(5 - count)) & 31 }

        var sum = Checksum(prefix: text[..<(start - 1)])
        for group in text[start..<end] { sum.add(group) }
        for _ in 0..<checksumSize { sum.add(0) }
        for index in 0..<checksumSize {
            text[end + index] = UInt8(truncatingIfNeeded: (sum.value ^ 1) >> UInt32(5 * (5 - index))) & 31
        }
        for index in start..<text.count { text[index] = character(of: text[index]) }
        // In Bech32 data and age's prefixes, only letters have bit 0x40. A mask avoids branching on a secret character.
        if letterCase == .upper { for index in text.indices { text[index] &= ~((text[index] & 0x40) >> 1) } }
    }

    struct Decoded: ~Copyable {
        /// The prefix in lower case. Do not show it: the prefix of a mistyped string may contain part of the secret.
        let prefix: String
        let letterCase: LetterCase
        let data: SecretBytes
    }

    /// Decodes a Bech32 string. Throws `malformed` or `outOfMemory`.
    static func decode(_ text: UnsafeRawBufferPointer) throws(AgeError) -> Decoded {
        guard text.count <= textLimit else { throw .malformed("it is too long") }
        guard text.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .malformed("it contains a space or another invalid character")
        }
        let hasUpper = text.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        guard !hasUpper || !text.contains(where: isLower) else {
            throw .malformed("it has both lower-case and upper-case letters")
        }
        guard let mark = text.lastIndex(of: separator), mark > 0, text.count - mark > checksumSize else {
            throw .malformed("it is truncated, or not an age key")
        }
        let prefix = text[..<mark].map(lowered)
        let groups = UnsafeRawBufferPointer(rebasing: text[(mark + 1)...])
        return Decoded(
            prefix: String(decoding: prefix, as: UTF8.self), letterCase: hasUpper ? .upper : .lower,
            data: try data(of: groups, Checksum(prefix: prefix)))
    }

    private static func data(of text: UnsafeRawBufferPointer, _ prefix: Checksum) throws(AgeError) -> SecretBytes {
        let groupCount = text.count - checksumSize
        var data = try translated(SecretBytes(zeros: groupCount * 5 / 8, isKey: true))
        try data.withUnsafeMutableBytes { (data) throws(AgeError) in
            var sum = prefix
            var bits: UInt32 = 0
            var count = 0
            var position = 0
            var isKnown = true
            for (index, character) in text.enumerated() {
                let (group, isGroup) = group(of: lowered(character))
                isKnown = isKnown && isGroup
                sum.add(group)
                guard index < groupCount else { continue }
                bits = bits << 5 | UInt32(group)
                count += 5
                guard count >= 8 else { continue }
                count -= 8
                data[position] = UInt8(truncatingIfNeeded: bits >> UInt32(count))
                position += 1
            }
            guard isKnown else { throw .malformed("it contains an invalid character") }
            guard sum.value == 1 else { throw .malformed("its checksum does not match; it was mistyped or truncated") }
            // Without this check of the padding bits, several strings would decode to the same data.
            guard count < 5, bits & (1 << UInt32(count) - 1) == 0 else {
                throw .malformed("its padding bits are invalid")
            }
        }
        return data
    }

    private static let alphabet: StaticString = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

    /// Returns the character of a 5-bit group. Reads the whole alphabet, so that caches do not reveal the group.
    private static func character(of group: UInt8) -> UInt8 {
        var found: UInt8 = 0
        for index in UInt8(0)..<32 { found |= alphabet.utf8Start[Int(index)] & mask(index == group) }
        return found
    }

    private static func group(of character: UInt8) -> (group: UInt8, isGroup: Bool) {
        var found: UInt8 = 0
        var hits: UInt8 = 0
        for index in UInt8(0)..<32 {
            let hit = mask(alphabet.utf8Start[Int(index)] == character)
            found |= index & hit
            hits |= hit
        }
        return (found, hits != 0)
    }

    private static func mask(_ isSet: Bool) -> UInt8 { 0 &- (isSet ? 1 : 0) }

    private static func isLower(_ character: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character)
    }

    private static func lowered(_ character: UInt8) -> UInt8 {
        character | 0x20 & mask(character &- UInt8(ascii: "A") < 26)
    }
}

/// The checksum of BIP 173, a BCH code over groups of five bits. For a valid string, the final value is 1.
private struct Checksum {
    private(set) var value: UInt32 = 1

    /// Starts a checksum with a prefix, which must be in lower case.
    init(prefix: some Collection<UInt8>) {
        for character in prefix { add(character >> 5) }
        add(0)
        for character in prefix { add(character & 31) }
    }

    mutating func add(_ group: UInt8) {
        let top = value >> 25
        value = (value & 0x1FF_FFFF) << 5 ^ UInt32(group)
        // Masks replace branches, because a branch's timing would depend on the data.
        value ^= 0x3B6A_57B2 & (0 &- (top & 1))
        value ^= 0x2650_8E6D & (0 &- (top >> 1 & 1))
        value ^= 0x1EA1_19FA & (0 &- (top >> 2 & 1))
        value ^= 0x3D42_33DD & (0 &- (top >> 3 & 1))
        value ^= 0x2A14_62B3 & (0 &- (top >> 4 & 1))
    }
}
