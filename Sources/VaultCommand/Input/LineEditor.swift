/// An editor for a hidden line, with the few keys that a terminal's own line mode supports.
///
/// The terminal's own line mode silently drops everything after 4,095 bytes of a line. A pasted token could be cut, and
/// its repetition in the same place. Keys that are not text are ignored, because in a hidden line a user would not see
/// the bytes that an arrow key or the escape sequences around a paste add.
struct LineEditor {
    enum Outcome { case goesOn, finished, cancelled }

    /// The editing keys as configured in the terminal. If a key is disabled, its value is 0.
    struct Keys { let erase, eraseWord, eraseLine, literal, endOfFile: UInt8 }

    /// The state after the bytes processed so far. It reveals nothing about the line's contents.
    private enum State {
        case text
        /// The next byte is stored, whatever it is.
        case literal
        /// The last byte was Esc. The next one distinguishes between the Esc key, a sequence, and Alt with a character.
        case escape
        /// The line editor skips a sequence, which began with `ESC [` or `ESC O`, until its last byte.
        case sequence
        /// The line editor skips the remaining bytes of a character that was typed with Alt.
        case character
    }

    private let keys: Keys
    private var state = State.text

    init(keys: Keys) { self.keys = keys }

    /// Whether the last byte was Esc. Only a pause after this byte shows that the Esc key itself was pressed.
    var awaitsEscape: Bool { state == .escape }

    /// Completes the Esc key after a pause, so that the next byte belongs to another key.
    mutating func endEscape() { state = .text }

    /// Processes a typed byte, which the caller has stored at `line[used]`.
    mutating func takeByte(_ line: UnsafeMutableRawBufferPointer, _ used: inout Int) -> Outcome {
        let byte = line[used]
        let isControl = byte < 0x20 || byte == 0x7F
        let former = state
        state = .text
        switch former {
        case .literal: used += 1
        case .escape where !isControl:
            state = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") ? .sequence : .character
        case .sequence where !isControl:
            // Bytes from 0x30 to 0x3F are parameters. The Linux console's function keys send `ESC [ [ A`, and no key's
            // sequence ends with a bracket.
            if (0x30...0x3F).contains(byte) || byte == UInt8(ascii: "[") { state = .sequence }
        case .character where byte.continuesCharacter: state = .character
        default: return takeKey(line, &used)
        }
        return .goesOn
    }

    private mutating func takeKey(_ line: UnsafeMutableRawBufferPointer, _ used: inout Int) -> Outcome {
        switch line[used] {
        case 0: break
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return .finished
        case keys.endOfFile: return used == 0 ? .cancelled : .finished
        case keys.erase, 0x08, 0x7F: eraseCharacter(line, &used)
        case keys.eraseWord: eraseWord(line, &used)
        case keys.eraseLine: used = 0
        case keys.literal: state = .literal
        case 0x1B: state = .escape
        // A tab is text, because terminals paste it unchanged.
        case ..<0x20 where line[used] != UInt8(ascii: "\t"): break
        default: used += 1
        }
        return .goesOn
    }

    /// Removes the last UTF-8 character, which is its first byte and any continuation bytes.
    private func eraseCharacter(_ line: UnsafeMutableRawBufferPointer, _ used: inout Int) {
        while used > 0 {
            used -= 1
            if !line[used].continuesCharacter { return }
        }
    }

    /// Removes the blanks at the end of the line, and the word before them.
    private func eraseWord(_ line: UnsafeMutableRawBufferPointer, _ used: inout Int) {
        while used > 0, line[used - 1].isBlank { used -= 1 }
        while used > 0, !line[used - 1].isBlank { used -= 1 }
    }
}

extension UInt8 {
    fileprivate var continuesCharacter: Bool { self & 0xC0 == 0x80 }
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
