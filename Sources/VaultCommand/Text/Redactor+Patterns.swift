import Sealing

extension Redactor {
    private typealias Piece = Slice<UnsafeRawBufferPointer>

    /// The minimum size in bytes of a line that is hidden on its own. Shorter lines are common in other output.
    private static let shortestLine = 8

    /// Returns the patterns to hide in a program's output for a secret value.
    ///
    /// A program may strip white space from the value, change its line endings, or print it line by line. The patterns
    /// therefore include the whole value, with and without surrounding white space, and with LF and CR LF as line
    /// endings. They also include each line of at least `shortestLine` bytes, without surrounding white space.
    static func patterns(for value: borrowing SecretBytes) throws -> [Pattern] {
        try value.withUnsafeBytes { bytes in
            var whole = bytes[...]
            while whole.last == lineFeed { whole = whole.dropLast() }
            guard !whole.isEmpty else { return [] }
            // A value that consists only of white space is not stripped.
            let inner = trimmed(whole).isEmpty ? whole : trimmed(whole)
            let lines = lines(of: inner)
            var patterns: [Pattern] = []
            for text in [whole, inner] {
                try add(SecretBytes(composing: { text.forEach($0) }), to: &patterns)
                try add(SecretBytes(composing: { onTerminal(text, $0) }), to: &patterns)
            }
            guard lines.count > 1 else { return patterns }
            for lineEnd in [[lineFeed], [carriageReturn, lineFeed]] {
                try add(SecretBytes(composing: { join(lines, lineEnd, $0) }), to: &patterns)
            }
            for line in lines.map(trimmed) where line.count >= shortestLine {
                patterns.append(Pattern(try SecretBytes(composing: { line.forEach($0) })))
            }
            return patterns
        }
    }

    private static func add(_ text: consuming SecretBytes, to patterns: inout [Pattern]) {
        for pattern in patterns where pattern.text.isEqual(to: text) { return }
        patterns.append(Pattern(text))
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// Emits text as a terminal would output it: with a carriage return before each line feed.
    private static func onTerminal(_ text: Piece, _ put: (UInt8) -> Void) {
        for byte in text {
            if byte == lineFeed { put(carriageReturn) }
            put(byte)
        }
    }

    private static func join(_ lines: [Piece], _ lineEnd: [UInt8], _ put: (UInt8) -> Void) {
        for (index, line) in lines.enumerated() {
            if index > 0 { lineEnd.forEach(put) }
            line.forEach(put)
        }
    }

    /// Returns the lines, including empty ones, without their line endings (LF, CR LF or CR).
    private static func lines(of text: Piece) -> [Piece] {
        var lines: [Piece] = []
        var rest = text
        while let end = rest.firstIndex(where: { $0 == lineFeed || $0 == carriageReturn }) {
            lines.append(rest[..<end])
            let isPair = rest[end] == carriageReturn && rest[(end + 1)...].first == lineFeed
            rest = rest[(end + (isPair ? 2 : 1))...]
        }
        return lines + [rest]
    }

    /// The white space that programs strip from text: Unicode's white space, the ASCII separators, which Python strips,
    /// and the byte order mark.
    private static let whiteSpace: [[UInt8]] = {
        let ranges: [ClosedRange<UInt32>] = [
            0x09...0x0D, 0x1C...0x20, 0x85...0x85, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
            0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
        ]
        return ranges.joined().compactMap(Unicode.Scalar.init).map { Array(String(Character($0)).utf8) }
    }()

    private static func trimmed(_ text: Piece) -> Piece {
        var text = text
        while let space = whiteSpace.first(where: { text.starts(with: $0) }) { text = text.dropFirst(space.count) }
        while let space = whiteSpace.first(where: { text.suffix($0.count).elementsEqual($0) }) {
            text = text.dropLast(space.count)
        }
        return text
    }
}
