/// A line that is typed without being seen, with the few keys that a terminal's own line mode would have handled.
///
/// That mode is not used because it drops whatever goes beyond 4,095 bytes of a line in silence: a pasted token could
/// be cut, twice alike.
struct LineEditor {
    enum Outcome: Equatable {
        case goesOn, finished
    }

    /// The keys as the terminal has them set.
    let erase: UInt8
    let eraseLine: UInt8
    let endOfFile: UInt8

    /// Takes the typed byte that was read to the first unused place of the line.
    func takeByte(_ line: UnsafeMutableRawBufferPointer, _ used: inout Int) -> Outcome {
        switch line[used] {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"), endOfFile:
            return .finished
        case erase, 0x08, 0x7F:
            eraseCharacter(line, &used)
        case eraseLine:
            used = 0
        default:
            used += 1
        }
        return .goesOn
    }

    /// Removes a whole UTF-8 scalar: its continuation bytes, and the byte that they continue.
    private func eraseCharacter(_ line: UnsafeMutableRawBufferPointer, _ used: inout Int) {
        while used > 0 {
            used -= 1
            if line[used] & 0xC0 != 0x80 { return }
        }
    }
}
