/// An editor for a hidden line. It supports the few editing keys of a terminal's own line mode.
///
/// That mode silently drops everything after the first 4,095 bytes of a line. A pasted token could be truncated
/// unnoticed, because the repeated input would be truncated at the same point. Keys that are not text are ignored: on a
/// hidden line, the user would not see the bytes added by an arrow key or by the escape sequences around a paste.
struct LineEditor {
    enum Outcome { case goesOn, finished, cancelled }

    /// The editing keys as configured in the terminal. The value of a disabled key is 0.
    struct Keys { let erase, eraseWord, eraseLine, literal, endOfFile: UInt8 }

    /// The editor's state between two bytes. It reveals nothing about the line's contents.
    private enum State {
        case text
        /// The last key was the literal-next key, usually Ctrl-V. The next byte is stored, whatever its value.
        case literal
        /// The last byte was Esc: the key itself, the start of an escape sequence, or Alt with a character.
        case escape
        /// The editor is skipping an escape sequence that began with `ESC [` or `ESC O`, including its last byte.
        case sequence
        /// The editor is skipping the remaining bytes of a character that was typed with Alt.
        case character
    }

    private let keys: Keys
    private var state = State.text

    init(keys: Keys) { self.keys = keys }

    /// Whether the last byte was Esc. Only a pause after this byte shows that the Esc key itself was pressed.
    var awaitsEscape: Bool { state == .escape }

    /// Treats Esc as a separate key after a pause, so that the next byte belongs to another key.
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
            // In an escape sequence, bytes from 0x30 to 0x3F are parameters. `[` does not end the sequence either,
            // because the function keys of the Linux console send it twice: `ESC [ [ A`.
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
        // A tab is kept as text, because terminals paste tabs unchanged.
        case ..<0x20 where line[used] != UInt8(ascii: "\t"): break
        default: used += 1
        }
        return .goesOn
    }

    /// Removes the last UTF-8 character: its first byte and any continuation bytes.
    private func eraseCharacter(_ line: UnsafeMutableRawBufferPointer, _ used: inout Int) {
        while used > 0 {
            used -= 1
            if !line[used].continuesCharacter { return }
        }
    }

    /// Removes the spaces and tabs at the end of the line, and the word before them.
    private func eraseWord(_ line: UnsafeMutableRawBufferPointer, _ used: inout Int) {
        while used > 0, line[used - 1].isBlank { used -= 1 }
        while used > 0, !line[used - 1].isBlank { used -= 1 }
    }
}

extension UInt8 {
    fileprivate var continuesCharacter: Bool { self & 0xC0 == 0x80 }
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
