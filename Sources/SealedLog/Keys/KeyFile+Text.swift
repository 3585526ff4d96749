import LinuxSystem
import Sealing

// The text of a generated key file; Format.md, "Generated key file".

extension KeyFile {
    private static let prefix = Array("vault-key-1-".utf8)
    private static let family = Array("vault-key-".utf8)
    private static let comment = Array("# vault key file".utf8)
    private static var keySize: Int { SecretBox.keySize }
    private static let checksumSize = 4
    private static let textLimit = 4_096

    /// Room that ``parse(_:)`` needs before the text, to work in: one piece of guarded memory serves for all.
    static let parsingRoom = 48

    /// Reads the bytes of a key file.
    ///
    /// - Parameter memory: the file's bytes behind ``parsingRoom`` zero bytes.
    /// - Throws: `keyUnsuitable` for a blank file and for a vault; `keyDamaged` for a generated file that is mistyped,
    ///   cut or changed: such a one is never taken for a file of the other kind.
    static func parse(_ memory: consuming SecretBytes) throws(LogError) -> KeyFile {
        let size = memory.count - parsingRoom
        guard size > 0 else { throw LogError(.keyUnsuitable, "is empty") }
        if let flaw = memory.withUnsafeBytes({ flaw(in: UnsafeRawBufferPointer(rebasing: $0[parsingRoom...])) }) {
            throw LogError(.keyUnsuitable, flaw)
        }
        var isGenerated = false
        var isValid = true
        do throws(SealingError) {
            isValid = try memory.withUnsafeMutableBytes { (memory) throws(SealingError) in
                let room = UnsafeMutableRawBufferPointer(rebasing: memory[..<parsingRoom])
                let text = UnsafeMutableRawBufferPointer(rebasing: memory[parsingRoom...])
                isGenerated = KeyFile.isGenerated(UnsafeRawBufferPointer(text))
                if isGenerated { return try read(UnsafeRawBufferPointer(text), into: room) }
                UnsafeMutableRawBufferPointer(rebasing: memory[..<size]).copyMemory(from: UnsafeRawBufferPointer(text))
                return true
            }
        } catch { throw LogError(error) }
        guard isValid else {
            throw LogError(.keyDamaged, "says that it is a generated key file, but is mistyped, cut or changed")
        }
        memory.truncate(to: isGenerated ? keySize : size)
        return KeyFile(kind: isGenerated ? .generated : .other, secret: memory)
    }

    /// A new key.
    package static func generate() throws(LogError) -> KeyFile {
        do throws(SealingError) {
            var key = try SecretBytes(zeroCount: keySize)
            key.withUnsafeMutableBytes { RandomBytes.fill($0) }
            return KeyFile(kind: .generated, secret: key)
        } catch { throw LogError(error) }
    }

    /// The text of a generated key's file.
    borrowing func text() throws(LogError) -> SecretBytes {
        do throws(SealingError) {
            return try secret.withUnsafeBytes { (key) throws(SealingError) in try KeyFile.text(of: key) }
        } catch { throw LogError(error) }
    }

    private static func text(of key: UnsafeRawBufferPointer) throws(SealingError) -> SecretBytes {
        let heading =
            "# vault key file: whoever has it can open the vault; without it the vault is lost. Keep a backup.\n"
        let digits = (keySize + checksumSize) * 2 + 1
        let size = heading.utf8.count + prefix.count + digits + 1
        var text = try SecretBytes(zeroCount: size)
        try text.withUnsafeMutableBytes { (text) throws(SealingError) in
            var rest = UnsafeMutableRawBufferPointer(rebasing: text[...])
            func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
                defer { rest = UnsafeMutableRawBufferPointer(rebasing: rest[count...]) }
                return UnsafeMutableRawBufferPointer(rebasing: rest[..<count])
            }
            take(heading.utf8.count).copyBytes(from: heading.utf8)
            // The digits' room holds the prefix and the key while the checksum is made, and then the prefix and
            // digits.
            let input = UnsafeMutableRawBufferPointer(rebasing: rest[..<(prefix.count + keySize)])
            take(prefix.count).copyBytes(from: prefix)
            UnsafeMutableRawBufferPointer(rebasing: input[prefix.count...]).copyMemory(from: key)
            let sum = Array(try checksum(of: UnsafeRawBufferPointer(input)))
            try Hexadecimal.encode(key, into: take(keySize * 2))
            take(1)[0] = UInt8(ascii: "-")
            let sumDigits = take(checksumSize * 2)
            try sum.withRawBytes { (sum) throws(SealingError) in try Hexadecimal.encode(sum, into: sumDigits) }
            take(1)[0] = UInt8(ascii: "\n")
        }
        return text
    }

    /// The checksum of a key.
    ///
    /// - Parameter input: the prefix and the key, one after the other.
    private static func checksum(of input: UnsafeRawBufferPointer) throws(SealingError) -> ArraySlice<UInt8> {
        var sum = [UInt8](repeating: 0, count: KeyedHash.size)
        try sum.withMutableRawBytes { (sum) throws(SealingError) in try KeyedHash.hash(input, into: sum) }
        return sum[..<checksumSize]
    }

    /// Why bytes can be no key; nil if they can.
    private static func flaw(in text: UnsafeRawBufferPointer) -> String? {
        if text.starts(with: Header.magic) { return "is a vault, not a key file" }
        // Zeros and white space: what is left of a file that was cut or never written.
        let isBlank = text.allSatisfy { $0 == 0 || $0 == UInt8(ascii: " ") || (0x09...0x0D).contains($0) }
        return isBlank ? "is blank" : nil
    }

    /// Whether a file says anywhere that it is a generated key file, also in UTF-16 or behind a space: it is damaged
    /// then.
    private static func isGenerated(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count <= textLimit else { return false }
        return contains(text, family) || contains(text, comment)
    }

    /// Whether letters of either case stand in a text, its zero bytes left out.
    private static func contains(_ text: UnsafeRawBufferPointer, _ letters: [UInt8]) -> Bool {
        for start in 0..<text.count {
            var (offset, matched) = (start, 0)
            while offset < text.count, matched < letters.count {
                if text[offset] != 0 {
                    guard isSameLetter(text[offset], letters[matched]) else { break }
                    matched += 1
                }
                offset += 1
            }
            if matched == letters.count { return true }
        }
        return false
    }

    /// Reads the one line of the key; its 32 bytes come to lie at the start of `room`. False if it does not hold.
    private static func read(
        _ text: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer
    ) throws(SealingError) -> Bool {
        var (count, whole) = (0, text)
        forEachLine(of: text) { line in
            guard !line.isEmpty, line.first != UInt8(ascii: "#") else { return }
            (count, whole) = (count + 1, line)
        }
        let keyDigits = prefix.count..<prefix.count + keySize * 2
        guard count == 1, whole.count == keyDigits.upperBound + 1 + checksumSize * 2,
            whole.starts(with: prefix, by: isSameLetter)
        else { return false }
        let input = UnsafeMutableRawBufferPointer(rebasing: room[..<(prefix.count + keySize)])
        let key = UnsafeMutableRawBufferPointer(rebasing: input[prefix.count...])
        var written = [UInt8](repeating: 0, count: checksumSize)
        guard whole[keyDigits.upperBound] == UInt8(ascii: "-"),
            Hexadecimal.decode(UnsafeRawBufferPointer(rebasing: whole[keyDigits]), into: key),
            written.withMutableRawBytes({
                Hexadecimal.decode(UnsafeRawBufferPointer(rebasing: whole[(keyDigits.upperBound + 1)...]), into: $0)
            })
        else { return false }
        input.copyBytes(from: prefix)
        guard try checksum(of: UnsafeRawBufferPointer(input)).elementsEqual(written) else { return false }
        UnsafeMutableRawBufferPointer(rebasing: room[..<keySize]).copyMemory(from: UnsafeRawBufferPointer(key))
        return true
    }

    /// Goes through the lines, the empty ones too. Not through `split`: its types cost a start 15 µs.
    private static func forEachLine(of text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        var start = 0
        for end in 0...text.count {
            let isEnd = end == text.count || text[end] == UInt8(ascii: "\n") || text[end] == UInt8(ascii: "\r")
            guard isEnd else { continue }
            body(UnsafeRawBufferPointer(rebasing: text[start..<end]))
            start = end + 1
        }
    }

    private static func isSameLetter(_ left: UInt8, _ right: UInt8) -> Bool {
        let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(left)
        return (isUpper ? left | 0x20 : left) == right
    }
}
