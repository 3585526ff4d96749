/// Goes through bytes that may or may not be UTF-8, without copying them.
enum UTF8Walk {
    enum Piece {
        /// A scalar, and the places of its bytes.
        case scalar(Unicode.Scalar, Range<Int>)
        /// Bytes that belong to no scalar.
        case invalid(Range<Int>)
    }

    /// Calls `body` for each piece, until it returns false.
    static func walk(_ bytes: UnsafeRawBufferPointer, _ body: (Piece) -> Bool) {
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var place = 0
        while true {
            let piece: Piece
            let start = place
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded):
                place += encoded.count
                piece = .scalar(Unicode.UTF8.decode(encoded), start..<place)
            case .error(let length):
                place += length
                piece = .invalid(start..<place)
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
    /// Whether a terminal might obey the character, or show it so that the text around it reads as another text:
    /// control characters, the two separators of lines, and the marks that turn the direction of writing.
    var isUnsafeOnTerminal: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
