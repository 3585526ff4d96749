/// Two ways to write bytes so that a reader cannot mistake them: for a terminal, and inside a JSON string.
///
/// The bytes go out one by one through `put`, into whatever memory the caller chose: guarded memory, for a secret.
enum Escaping {
    /// Newlines and tabs stay, other unsafe characters become `\x1b` or `\u{202e}`, bytes that are not UTF-8 `\xff`.
    /// A backslash stays one: what is shown is to be copied and pasted.
    static func terminal(_ bytes: UnsafeRawBufferPointer, _ put: (UInt8) -> Void) {
        UTF8Walk.walk(bytes) { piece in
            switch piece {
            case .scalar(let scalar, let range):
                if !scalar.isUnsafeOnTerminal || scalar == "\n" || scalar == "\t" {
                    bytes[range].forEach(put)
                } else if scalar.value < 0x80 {
                    hexadecimal("\\x", scalar.value, digits: 2, put)
                } else {
                    let bits = UInt32.bitWidth - scalar.value.leadingZeroBitCount
                    hexadecimal("\\u{", scalar.value, digits: scalar.value < 0x100 ? 2 : max(4, (bits + 3) / 4), put)
                    put(UInt8(ascii: "}"))
                }
            case .invalid(let range):
                for byte in bytes[range] { hexadecimal("\\x", UInt32(byte), digits: 2, put) }
            }
            return true
        }
    }

    /// The inside of a JSON string, without its quotation marks. The bytes must be UTF-8; see ``UTF8Walk/isValid(_:)``.
    static func json(_ bytes: UnsafeRawBufferPointer, _ put: (UInt8) -> Void) {
        UTF8Walk.walk(bytes) { piece in
            guard case .scalar(let scalar, let range) = piece else { return true }
            switch scalar {
            case "\"", "\\":
                put(UInt8(ascii: "\\"))
                bytes[range].forEach(put)
            case "\n": "\\n".utf8.forEach(put)
            case "\r": "\\r".utf8.forEach(put)
            case "\t": "\\t".utf8.forEach(put)
            case _ where scalar.isUnsafeOnTerminal:
                for unit in scalar.utf16 { hexadecimal("\\u", UInt32(unit), digits: 4, put) }
            default: bytes[range].forEach(put)
            }
            return true
        }
    }

    /// The inside of a JSON string, for a text that is not secret.
    static func json(_ text: String) -> [UInt8] {
        var text = text
        var escaped: [UInt8] = []
        text.withUTF8 { json(UnsafeRawBufferPointer($0)) { escaped.append($0) } }
        return escaped
    }

    private static func hexadecimal(_ prefix: StaticString, _ value: UInt32, digits: Int, _ put: (UInt8) -> Void) {
        prefix.withUTF8Buffer { $0.forEach(put) }
        for place in (0..<digits).reversed() {
            let digit = UInt8(truncatingIfNeeded: value >> (4 * UInt32(place)) & 15)
            put(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}

extension String {
    /// The text as it may be shown to a person, whoever wrote parts of it.
    var forTerminal: String {
        guard unicodeScalars.contains(where: { $0.isUnsafeOnTerminal && $0 != "\n" && $0 != "\t" }) else { return self }
        var text = self
        var escaped: [UInt8] = []
        text.withUTF8 { Escaping.terminal(UnsafeRawBufferPointer($0)) { escaped.append($0) } }
        return String(decoding: escaped, as: UTF8.self)
    }
}
