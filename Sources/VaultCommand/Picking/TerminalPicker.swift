import Glibc
import Vault

/// Lets the user choose a name from a list below the cursor. The list disappears afterwards.
enum TerminalPicker {
    /// - Throws: ``CommandError`` (refused) if there is no terminal, or if the user chooses no name.
    static func choose(from candidates: [PickList.Candidate]) throws -> String {
        guard EscapeSequences.areObeyed else {
            throw CommandError.refused("This terminal cannot show a list (TERM is dumb). Use --with PROGRAM.")
        }
        guard let terminal = try? PromptTerminal.open(for: .list) else {
            throw CommandError.refused("There is no terminal to show the list on. Use --with PROGRAM.")
        }
        var list = PickList(candidates)
        var decoder = KeyDecoder()
        var isDrawn = false
        while true {
            // If the user pastes text, the list is drawn only once, after the last byte.
            let pause: Int32 = isDrawn ? (decoder.awaitsEscape ? 50 : -1) : 0
            var key: KeyDecoder.Key?
            var byte: UInt8 = 0
            switch try withUnsafeMutableBytes(of: &byte, { try terminal.next(into: $0, within: pause) }) {
            case .byte: key = decoder.take(byte)
            case .interruption: isDrawn = false
            case .pause where !isDrawn:
                draw(list, on: terminal.descriptor)
                isDrawn = true
            case .pause: key = decoder.endEscape()
            }
            guard let key else { continue }
            switch list.take(key) {
            case .chosen(let name): return name
            case .cancelled: throw PickedNothing.error
            case .goesOn: isDrawn = false
            }
        }
    }

    /// Draws the list over the previous one. The cursor stays on the list's first line.
    private static func draw(_ list: PickList, on terminal: Int32) {
        var size = winsize()
        let isKnown = ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        let lines = list.lines(columns: isKnown ? Int(size.ws_col) : 80, rows: isKnown ? Int(size.ws_row) : 24)
        let back = lines.cursor > 0 ? "\r\u{1b}[\(lines.cursor)C" : "\r"
        SystemCall.writeAll(
            "\r\u{1b}[J\(lines.query)\r\n\(lines.names.joined(separator: "\r\n"))\u{1b}[\(lines.names.count)A\(back)",
            to: terminal)
    }
}

enum PickedNothing { static let error = CommandError.refused("Nothing was chosen.") }
