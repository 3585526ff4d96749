/// A line that is typed without being seen, with the few keys that a terminal's own line mode would have handled.
///
/// That mode is not used because it drops whatever goes beyond 4,095 bytes of a line in silence: a pasted token could
/// be cut, twice alike. Keys that are not text are ignored: in a line that is not shown, a person would not notice
/// what an arrow key or the marks around a paste had added to it.
struct LineEditor {
    enum Outcome: Equatable {
        case goesOn, finished, cancelled
    }

    /// The keys as the terminal has them set. A key that is turned off there is 0.
    struct Keys {
        let erase: UInt8
        let eraseWord: UInt8
        let eraseLine: UInt8
        let literal: UInt8
        let endOfFile: UInt8
    }

    /// What was begun by the bytes before the next one. It tells nothing of the line.
    private enum State {
        case text
        /// The next byte is stored, whatever it is.
        case literal
        /// After Esc: the key itself, the start of a sequence, or Alt and the next character.
        case escape
        /// After `ESC [` or `ESC O`, up to the sequence's last byte.
        case sequence
        /// Inside a character that was typed with Alt.
        case character
    }

    private let keys: Keys
    private var state = State.text

    init(keys: Keys) {
        self.keys = keys
    }

    /// Whether only a pause tells the key Esc from what else begins with its byte.
    var awaitsEscape: Bool { state == .escape }

    /// Takes the pause after Esc: what comes next is typed by itself.
    mutating func endEscape() {
        state = .text
    }

    /// Takes the typed byte that was read to the first unused place of the line.
    mutating func takeByte(_ line: UnsafeMutableRawBufferPointer, _ used: inout Int) -> Outcome {
        let byte = line[used]
        let isControl = byte < 0x20 || byte == 0x7F
        let former = state
        state = .text
        switch former {
        case .literal:
            used += 1
        case .escape where !isControl:
            state = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") ? .sequence : .character
        case .sequence where !isControl:
            // Parameters. The Linux console's function keys send `ESC [ [ A`; no sequence of a key ends with a bracket.
            if (0x30...0x3F).contains(byte) || byte == UInt8(ascii: "[") { state = .sequence }
        case .character where byte.continuesCharacter:
            state = .character
        default:
            return takeKey(line, &used)
        }
        return .goesOn
    }

    private mutating func takeKey(_ line: UnsafeMutableRawBufferPointer, _ used: inout Int) -> Outcome {
        switch line[used] {
        case 0:
            break
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            return .finished
        case keys.endOfFile:
            return used == 0 ? .cancelled : .finished
        case keys.erase, 0x08, 0x7F:
            eraseCharacter(line, &used)
        case keys.eraseWord:
            eraseWord(line, &used)
        case keys.eraseLine:
            used = 0
        case keys.literal:
            state = .literal
        case 0x1B:
            state = .escape
        // A tab is text: a terminal pastes it as it is.
        case ..<0x20 where line[used] != UInt8(ascii: "\t"):
            break
        default:
            used += 1
        }
        return .goesOn
    }

    /// Removes a whole UTF-8 scalar: its continuation bytes, and the byte that they continue.
    private func eraseCharacter(_ line: UnsafeMutableRawBufferPointer, _ used: inout Int) {
        while used > 0 {
            used -= 1
            if !line[used].continuesCharacter { return }
        }
    }

    /// Removes the blanks at the end, and what stands before them up to the next blank.
    private func eraseWord(_ line: UnsafeMutableRawBufferPointer, _ used: inout Int) {
        while used > 0, line[used - 1].isBlank { used -= 1 }
        while used > 0, !line[used - 1].isBlank { used -= 1 }
    }
}

extension UInt8 {
    fileprivate var continuesCharacter: Bool { self & 0xC0 == 0x80 }

    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
