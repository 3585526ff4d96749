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
    /// control characters, the two separators of lines, and what Unicode wants to be invisible, such as the marks that
    /// turn the direction of writing, spaces of no width and fillers.
    ///
    /// The joiners and variation selectors of emoji are among these, and they are no exception: two names that look
    /// alike are worse than an emoji in pieces.
    var isUnsafeOnTerminal: Bool {
        switch value {
        // What most names consist of, ASCII, Latin and East Asian letters, does without the table of Unicode: it takes
        // 80 ns to look a character up, and a list may have a million names.
        case 0x20..<0x7F, 0xAE..<0x34F, 0x3165..<0xFE00: false
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x2029: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
