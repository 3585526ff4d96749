import LinuxSystem

struct KeyDecoder {
    enum Key: Equatable {
        case text(Unicode.Scalar)
        case up, down, enter, cancel, erase, eraseWord, eraseLine
    }

    /// The state after the bytes decoded so far.
    private enum State {
        case start
        /// The last byte was Esc. The next one shows whether it was the Esc key, a sequence, or Alt with a character.
        case escape
        /// The decoder is inside a sequence that began with `ESC [` or `ESC O`.
        case sequence
        /// The decoder is inside a multi-byte character. The associated value contains its first bytes.
        case character([UInt8], isIgnored: Bool)
    }

    private var state = State.start

    /// Whether the last byte was Esc. Only a pause after this byte shows that the Esc key itself was pressed.
    var awaitsEscape: Bool { if case .escape = state { true } else { false } }

    /// Returns the Esc key. Called after a pause, which shows that no further byte belongs to the key.
    mutating func endEscape() -> Key {
        state = .start
        return .cancel
    }

    /// Returns the key press that the byte completes; nil if it is still incomplete, or has no meaning in a list.
    mutating func take(_ byte: UInt8) -> Key? {
        let former = state
        state = .start
        switch former {
        case .start: return startKey(byte)
        case .escape:
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") {
                state = .sequence
            } else if byte == 0x1B {
                return .cancel
            } else if byte >= 0x80 {
                state = .character([byte], isIgnored: true)
            }
            return nil
        case .sequence:
            switch byte {
            case UInt8(ascii: "A"): return .up
            case UInt8(ascii: "B"): return .down
            // The sequence continues with a parameter, or with the Linux console's second `[`, as in `ESC [ [ A`.
            case 0x20...0x3F, UInt8(ascii: "["): state = .sequence
            default: break
            }
            return nil
        case .character(let bytes, let isIgnored): return takeCharacter(bytes, byte, isIgnored)
        }
    }

    private mutating func startKey(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x0A, 0x0D: return .enter
        case 0x03, 0x04: return .cancel
        case 0x08, 0x7F: return .erase
        case 0x0E: return .down
        case 0x10: return .up
        case 0x15: return .eraseLine
        case 0x17: return .eraseWord
        case 0x1B: state = .escape
        case 0x20..<0x7F: return .text(Unicode.Scalar(byte))
        case 0x80...: state = .character([byte], isIgnored: false)
        default: break
        }
        return nil
    }

    /// Adds a byte to a character, and returns the character when it is complete. Ignores invalid UTF-8.
    private mutating func takeCharacter(_ former: [UInt8], _ byte: UInt8, _ isIgnored: Bool) -> Key? {
        guard byte & 0xC0 == 0x80 else { return startKey(byte) }
        let bytes = former + [byte]
        if let scalar = String(validating: bytes, as: UTF8.self)?.unicodeScalars.first {
            return isIgnored || scalar.isUnsafeOnTerminal ? nil : .text(scalar)
        }
        // No character has more than four bytes.
        if bytes.count < 4 { state = .character(bytes, isIgnored: isIgnored) }
        return nil
    }
}
