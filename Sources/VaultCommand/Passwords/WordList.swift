/// A list of words, stored as a text with spaces between them.
struct WordList {
    private let text: StaticString
    private let words: [Range<Int>]

    static let eff = WordList(effText)

    private init(_ text: StaticString) {
        self.text = text
        words = text.withUTF8Buffer { bytes in
            bytes.split(separator: UInt8(ascii: " ")).map { $0.startIndex..<$0.endIndex }
        }
    }

    var count: Int { words.count }
    var longest: Int { words.map(\.count).max() ?? 0 }

    /// Calls `body` for each byte of a word, so that no copy in ordinary memory is needed.
    func forEachByte(ofWord index: Int, _ body: (UInt8) -> Void) {
        text.withUTF8Buffer { $0[words[index]].forEach(body) }
    }
}
