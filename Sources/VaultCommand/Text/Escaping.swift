import LinuxSystem

/// Escapes bytes for a terminal or for the contents of a JSON string. Emits the bytes one at a time through `put`, so
/// that a secret stays in guarded memory.
enum Escaping {
    /// Emits text for a terminal. Keeps newlines and tabs. Converts other unsafe characters to escapes such as `\x1b`
    /// or `\u{202e}`, and bytes that are not UTF-8 to escapes such as `\xff`. Does not escape backslashes, so that
    /// users can copy and paste the text.
    static func terminal(_ bytes: UnsafeRawBufferPointer, _ put: (UInt8) -> Void) {
        walk(bytes) { scalar, piece in
            switch scalar {
            case "\n", "\t": piece.forEach(put)
            case let scalar? where !scalar.isUnsafeOnTerminal: piece.forEach(put)
            case let scalar? where scalar.value >= 0x80:
                let bits = UInt32.bitWidth - scalar.value.leadingZeroBitCount
                hexadecimal("\\u{", scalar.value, digits: scalar.value < 0x100 ? 2 : max(4, (bits + 3) / 4), put)
                put(UInt8(ascii: "}"))
            default: for byte in piece { hexadecimal("\\x", UInt32(byte), digits: 2, put) }
            }
        }
    }

    /// Emits the contents of a JSON string, without quotation marks. The bytes must be UTF-8; see
    /// ``UnsafeRawBufferPointer/isUTF8``.
    static func json(_ bytes: UnsafeRawBufferPointer, _ put: (UInt8) -> Void) {
        walk(bytes) { scalar, piece in
            switch scalar {
            case nil: break
            case "\"", "\\":
                put(UInt8(ascii: "\\"))
                piece.forEach(put)
            case "\n": "\\n".utf8.forEach(put)
            case "\r": "\\r".utf8.forEach(put)
            case "\t": "\\t".utf8.forEach(put)
            case let scalar? where scalar.isUnsafeOnTerminal:
                for unit in scalar.utf16 { hexadecimal("\\u", UInt32(unit), digits: 4, put) }
            default: piece.forEach(put)
            }
        }
    }

    /// Returns a string that is not secret, escaped as by ``json(_:_:)``.
    static func json(_ text: String) -> [UInt8] { escaped(text, json) }

    fileprivate static func escaped(
        _ text: String, _ escape: (UnsafeRawBufferPointer, (UInt8) -> Void) -> Void
    ) -> [UInt8] {
        var text = text
        var escaped: [UInt8] = []
        text.withUTF8 { escape(UnsafeRawBufferPointer($0)) { escaped.append($0) } }
        return escaped
    }

    /// Calls `body` with each scalar and its bytes; the scalar is nil for bytes not in UTF-8. Does not copy the bytes.
    private static func walk(
        _ bytes: UnsafeRawBufferPointer, _ body: (Unicode.Scalar?, Slice<UnsafeRawBufferPointer>) -> Void
    ) {
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var rest = bytes[...]
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded):
                body(Unicode.UTF8.decode(encoded), rest.prefix(encoded.count))
                rest = rest.dropFirst(encoded.count)
            case .error(let length):
                body(nil, rest.prefix(length))
                rest = rest.dropFirst(length)
            case .emptyInput: return
            }
        }
    }

    private static func hexadecimal(_ prefix: StaticString, _ value: UInt32, digits: Int, _ put: (UInt8) -> Void) {
        prefix.withUTF8Buffer { $0.forEach(put) }
        for index in (0..<digits).reversed() {
            let digit = UInt8(truncatingIfNeeded: value >> (4 * UInt32(index)) & 15)
            put(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}

extension String {
    var forTerminal: String {
        guard unicodeScalars.contains(where: { $0.isUnsafeOnTerminal && $0 != "\n" && $0 != "\t" }) else { return self }
        return String(decoding: Escaping.escaped(self, Escaping.terminal), as: UTF8.self)
    }
}
