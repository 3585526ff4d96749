import Sealing

// A character on a terminal is about twice as high as wide, so it shows two modules, one above the other.

extension QRCode {
    /// The width of the rendered code in columns, including the quiet zone. On a terminal with fewer columns, the lines
    /// wrap, and the code cannot be scanned.
    var width: Int { version.size + 2 * QRCode.quietZone }

    var height: Int { (width + 1) / 2 }

    /// Returns the code as lines of `█`, `▀`, `▄` and spaces. Dark modules are drawn, and light modules are left blank.
    ///
    /// - Parameter colored: whether to set black and white with escape sequences, for a terminal. Otherwise, the code
    ///   has the terminal's colours, and some scanners reject a light code on a dark background.
    /// - Throws: ``SealingError/Code/outOfMemory``.
    borrowing func rendered(colored: Bool) throws(SealingError) -> SecretBytes {
        // Black and white come from the 256-colour palette, because a theme may change the first 16 colours.
        let start = Array((colored ? "\u{1b}[38;5;16;48;5;231m" : "").utf8)
        // The colours are reset before each newline. Otherwise, some terminals would colour the next line.
        let end = Array((colored ? "\u{1b}[0m\n" : "\n").utf8)
        let blocks = [" ", "▄", "▀", "█"].map { Array($0.utf8) }
        let largestBlock = 3
        var text = try SecretBytes(zeros: height * (start.count + width * largestBlock + end.count))
        let count = text.withUnsafeMutableBytes { text in
            var count = 0
            func append(_ bytes: [UInt8]) {
                for byte in bytes {
                    text[count] = byte
                    count += 1
                }
            }
            for line in 0..<height {
                append(start)
                let row = 2 * line - QRCode.quietZone
                for column in -QRCode.quietZone..<width - QRCode.quietZone {
                    append(blocks[(matrix[row, column] ? 2 : 0) + (matrix[row + 1, column] ? 1 : 0)])
                }
                append(end)
            }
            return count
        }
        text.truncate(to: count)
        return text
    }
}
