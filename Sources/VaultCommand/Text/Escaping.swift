/// Escapes bytes for a terminal, and for the inside of a JSON string.
///
/// The bytes are emitted one by one through `put`, into memory of the caller's choice: guarded memory, for a secret.
enum Escaping {
    /// Keeps newlines and tabs. Other unsafe characters become `\x1b` or `\u{202e}`, bytes that are not UTF-8 `\xff`.
    /// A backslash is kept, so that the text can be copied and pasted.
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

    /// Writes the inside of a JSON string, without quotation marks. The bytes must be UTF-8; see
    /// ``UTF8Walk/isValid(_:)``.
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

    /// Returns the inside of a JSON string, for a text that is not secret.
    static func json(_ text: String) -> [UInt8] {
        var text = text
        var escaped: [UInt8] = []
        text.withUTF8 { json(UnsafeRawBufferPointer($0)) { escaped.append($0) } }
        return escaped
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
    /// The text with what a terminal would obey escaped, whatever its parts come from.
    var forTerminal: String {
        guard unicodeScalars.contains(where: { $0.isUnsafeOnTerminal && $0 != "\n" && $0 != "\t" }) else { return self }
        var text = self
        var escaped: [UInt8] = []
        text.withUTF8 { Escaping.terminal(UnsafeRawBufferPointer($0)) { escaped.append($0) } }
        return String(decoding: escaped, as: UTF8.self)
    }
}

/// Walks through bytes that may or may not be UTF-8, without copying them.
enum UTF8Walk {
    enum Piece {
        /// A scalar, and the offsets of its bytes.
        case scalar(Unicode.Scalar, Range<Int>)
        /// Bytes that belong to no scalar.
        case invalid(Range<Int>)
    }

    /// Calls `body` for each piece, until it returns false.
    static func walk(_ bytes: UnsafeRawBufferPointer, _ body: (Piece) -> Bool) {
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var offset = 0
        while true {
            let piece: Piece
            let start = offset
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded):
                offset += encoded.count
                piece = .scalar(Unicode.UTF8.decode(encoded), start..<offset)
            case .error(let length):
                offset += length
                piece = .invalid(start..<offset)
            case .emptyInput:
                return
            }
            guard body(piece) else { return }
        }
    }

    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var isValid = true
        walk(bytes) { piece in
            if case .invalid = piece { isValid = false }
            return isValid
        }
        return isValid
    }
}

extension Unicode.Scalar {
    /// Whether a terminal might obey the character, or show the text around it as another text: control characters, the
    /// two line separators, and what Unicode calls default-ignorable, such as direction marks, zero-width spaces and
    /// fillers.
    ///
    /// The joiners and variation selectors of emoji are no exception: two names that look alike are worse than an emoji
    /// in pieces.
    var isUnsafeOnTerminal: Bool {
        switch value {
        // Most names are ASCII, Latin or East Asian letters. They need no look-up in Unicode's table, which takes 80
        // ns: a list may have a million names.
        case 0x20..<0x7F, 0xAE..<0x34F, 0x3165..<0xFE00: false
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x2029: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
