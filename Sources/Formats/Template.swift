import Sealing

/// Text with placeholders for secrets, such as `password: {{ vault:mail/work }}`.
///
/// Two opening braces always begin a placeholder; in a longer run of braces, the last two do. White space inside the
/// braces is ignored. `{{ "{{" }}` represents two literal braces. Closing braces outside a placeholder are literal.
package struct Template: Hashable, Sendable {
    package struct Placeholder: Hashable, Sendable {
        /// The entry's name, which is not empty.
        package let name: String
        /// The line and the column at which the placeholder begins, counted from 1. A column is one character.
        package let line, column: Int
    }

    package enum Piece: Hashable, Sendable {
        case text([UInt8])
        case placeholder(Placeholder)
    }

    package let pieces: [Piece]

    package var placeholders: [Placeholder] {
        pieces.compactMap { if case .placeholder(let placeholder) = $0 { placeholder } else { nil } }
    }

    package init(parsing text: [UInt8]) throws(FormatError) {
        var parser = TemplateParser(rest: text[...])
        pieces = try parser.parse()
    }
}

private struct TemplateParser {
    private static let opening = Array("{{".utf8)
    private static let closing = Array("}}".utf8)
    private static let scheme = Array("vault:".utf8)
    private static let braces = Array("\"{{\"".utf8)

    var rest: ArraySlice<UInt8>
    private var line = 1
    private var column = 1
    private var pieces: [Template.Piece] = []

    init(rest: ArraySlice<UInt8>) { self.rest = rest }

    mutating func parse() throws(FormatError) -> [Template.Piece] {
        var text: [UInt8] = []
        while let byte = rest.first {
            guard startsPlaceholder else {
                text.append(byte)
                advance(1)
                continue
            }
            switch try readPlaceholder() {
            case .text(let braces): text += braces
            case .placeholder(let placeholder):
                if !text.isEmpty { pieces.append(.text(text)) }
                text = []
                pieces.append(.placeholder(placeholder))
            }
        }
        if !text.isEmpty { pieces.append(.text(text)) }
        return pieces
    }

    private var startsPlaceholder: Bool {
        rest.starts(with: Self.opening) && rest.dropFirst(2).first != UInt8(ascii: "{")
    }

    private mutating func readPlaceholder() throws(FormatError) -> Template.Piece {
        let line = line
        let column = column
        func fault(_ problem: String) -> FormatError { FormatError(line: line, column: column, problem) }
        let inside = rest.dropFirst(2)
        let end = inside.indices.first { inside[$0] == UInt8(ascii: "\n") || inside[$0...].starts(with: Self.closing) }
        guard let end, inside[end] != UInt8(ascii: "\n") else { throw fault("the placeholder has no }} on its line") }
        let content = inside[..<end].trimming(while: \.isWhiteSpace)
        advance(end + 2 - rest.startIndex)
        if content.elementsEqual(Self.braces) { return .text(Self.opening) }
        guard content.starts(with: Self.scheme), content.count > Self.scheme.count else {
            throw fault("the placeholder is not {{ vault:NAME }}; for braces in the text, write {{ \"{{\" }}")
        }
        guard let name = String(validating: content.dropFirst(Self.scheme.count), as: UTF8.self) else {
            throw fault("the name in the placeholder is not UTF-8")
        }
        return .placeholder(.init(name: name, line: line, column: column))
    }

    private mutating func advance(_ count: Int) {
        for byte in rest.prefix(count) {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                // Only the first byte of a UTF-8 character advances the column.
                column += 1
            }
        }
        rest = rest.dropFirst(count)
    }
}
