/// A shell-style pattern. `*` matches any text, including slashes. `?` matches one character, and `[a-z]` and `[!a-z]`
/// match one character of a set. A backslash quotes the next character. Case is ignored.
struct Glob {
    private enum Piece {
        case text(Unicode.Scalar)
        case any, anyText
        case oneOf([ClosedRange<Unicode.Scalar>], isInverted: Bool)
    }

    private let pieces: [Piece]

    /// Returns nil if the word contains no `*`, `?` or `[`, and is therefore not a pattern.
    init?(_ word: String) {
        guard word.utf8.contains(where: "*?[".utf8.contains) else { return nil }
        var rest = Array(word.lowercased().unicodeScalars)[...]
        var pieces: [Piece] = []
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": pieces.append(.anyText)
            case "?": pieces.append(.any)
            case "\\": pieces.append(.text(rest.popFirst() ?? scalar))
            case "[": pieces.append(Glob.set(&rest) ?? .text(scalar))
            default: pieces.append(.text(scalar))
            }
        }
        self.pieces = pieces
    }

    /// Parses a set after its opening bracket. If the set is not closed, returns nil and consumes nothing.
    private static func set(_ rest: inout ArraySlice<Unicode.Scalar>) -> Piece? {
        var set = rest
        let isInverted = set.first == "!" || set.first == "^"
        if isInverted { set.removeFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while let scalar = set.popFirst() {
            // A closing bracket that is the first character of a set belongs to the set.
            if scalar == "]", !ranges.isEmpty {
                rest = set
                return .oneOf(ranges, isInverted: isInverted)
            }
            if set.first == "-", let last = set.dropFirst().first, last != "]", last >= scalar {
                set.removeFirst(2)
                ranges.append(scalar...last)
            } else {
                ranges.append(scalar...scalar)
            }
        }
        return nil
    }

    func matches(_ text: String) -> Bool {
        let text = Array(text.lowercased().unicodeScalars)
        var piece = 0
        var position = 0
        // The piece after the last `*` and where it was last tried. After a mismatch, it is tried one character later.
        var retry: (piece: Int, position: Int)?
        while true {
            if piece < pieces.count, case .anyText = pieces[piece] {
                retry = (piece + 1, position)
                piece += 1
            } else if position == text.count, piece == pieces.count {
                return true
            } else if position < text.count, piece < pieces.count, matches(pieces[piece], text[position]) {
                piece = piece + 1
                position = position + 1
            } else if let last = retry, last.position < text.count {
                retry = (last.piece, last.position + 1)
                piece = last.piece
                position = last.position + 1
            } else {
                return false
            }
        }
    }

    private func matches(_ piece: Piece, _ scalar: Unicode.Scalar) -> Bool {
        switch piece {
        case .text(let expected): scalar == expected
        case .any, .anyText: true
        case .oneOf(let ranges, let isInverted): ranges.contains { $0.contains(scalar) } != isInverted
        }
    }
}
