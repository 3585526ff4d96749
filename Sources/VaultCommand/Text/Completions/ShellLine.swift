/// The command line as bash passes it to a completion: unsplit, with its quotes, and only up to the cursor.
///
/// bash replaces only the end of the last word: the part after an open quote, or after the last word break, such as a
/// colon. A completion is therefore the end of a whole word, quoted for its context.
struct ShellLine: Equatable {
    enum Quote: Equatable { case none, single, double }

    /// The words without their quotes. The last word ends at the cursor, and may be empty.
    private(set) var words = [""]
    private(set) var quote = Quote.none
    /// The part of the last word that bash keeps. It replaces the rest.
    private(set) var kept = ""

    /// - Parameter breaks: the value of bash's COMP_WORDBREAKS.
    init(_ line: String, breaks: String) {
        var scalars = line.unicodeScalars.makeIterator()
        var isInWord = false
        while let scalar = scalars.next() {
            switch (quote, scalar) {
            case (.none, " "), (.none, "\t"), (.none, "\n"):
                if isInWord { words.append("") }
                isInWord = false
                kept = ""
                continue
            case (.none, "'"): open(.single)
            case (.none, "\""): open(.double)
            case (.single, "'"), (.double, "\""):
                quote = .none
                kept = keptBeforeQuote
            case (.none, "\\"): if let next = scalars.next() { append(next) }
            case (.double, "\\"):
                guard let next = scalars.next() else { break }
                if !Self.escapedInDouble.contains(next) { append("\\") }
                append(next)
            case (.none, _) where breaks.unicodeScalars.contains(scalar):
                append(scalar)
                kept = words[words.count - 1]
            default: append(scalar)
            }
            isInWord = true
        }
    }

    private var keptBeforeQuote = ""

    private mutating func open(_ new: Quote) {
        quote = new
        keptBeforeQuote = kept
        kept = words[words.count - 1]
    }

    private mutating func append(_ scalar: Unicode.Scalar) { words[words.count - 1].unicodeScalars.append(scalar) }

    private static let escapedInDouble: Set<Unicode.Scalar> = ["\"", "\\", "$", "`"]

    /// Returns the text that replaces the end of the last word, so that the whole word becomes `word`.
    func ending(_ word: String) -> String {
        var quoted = ""
        for scalar in word.unicodeScalars.dropFirst(kept.unicodeScalars.count) {
            switch quote {
            case .single where scalar == "'": quoted += "'\\''"
            case .double where Self.escapedInDouble.contains(scalar), .none where !Self.isPlain(scalar):
                quoted += "\\\(scalar)"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.isASCII || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            || "_@%+=:,./-".unicodeScalars.contains(scalar)
    }
}
