import Glibc
import Vault

/// The recipe for a random passphrase of words from a list. All words are equally likely.
struct PassphraseRecipe {
    static let standardSeparator = "-"
    static let longest = 256

    let count: Int
    private let separator: String

    /// - Returns: nil if `count` is out of range, if `separator` is empty or too long, or if it contains a lower-case
    ///   letter. With such a letter, different words could form the same passphrase, which would lower the entropy.
    init?(count: Int, separator: String = standardSeparator) {
        let isLowerCase = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
        guard (1...PassphraseRecipe.longest).contains(count), (1...8).contains(separator.utf8.count),
            !separator.utf8.contains(where: isLowerCase)
        else { return nil }
        self.count = count
        self.separator = separator
    }

    func passphrase(from numbers: inout UniformNumbers) throws -> SecretBytes {
        let list = WordList.eff
        let capacity = count * (list.longest + separator.utf8.count)
        return try SecretBytes(unsafeCapacity: capacity) { text in
            var used = 0
            let put = { (byte: UInt8) in
                text[used] = byte
                used += 1
            }
            for index in 0..<count {
                if index > 0 { separator.utf8.forEach(put) }
                list.forEachByte(ofWord: numbers.next(below: list.count), put)
            }
            return used
        }
    }

    /// The entropy in bits, which is the binary logarithm of the number of possible word sequences.
    var entropy: Double { Double(count) * log2(Double(WordList.eff.count)) }
}

/// A list of words, stored as one string with spaces between the words.
struct WordList {
    private let text: StaticString
    private let words: [Range<Int>]

    static let eff = WordList(effText)

    private init(_ text: StaticString) {
        self.text = text
        words = text.withUTF8Buffer { $0.split(separator: UInt8(ascii: " ")).map { $0.startIndex..<$0.endIndex } }
    }

    var count: Int { words.count }
    var longest: Int { words.map(\.count).max() ?? 0 }

    /// Calls `body` for each byte of a word, so that the word need not be copied to ordinary memory.
    func forEachByte(ofWord index: Int, _ body: (UInt8) -> Void) {
        text.withUTF8Buffer { $0[words[index]].forEach(body) }
    }
}
