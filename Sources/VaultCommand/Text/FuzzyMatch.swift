/// Scores how well a string matches a query. A match contains the query's characters in order, possibly with gaps.
enum FuzzyMatch {
    private static let character = 16
    private static let wordStart = 10
    private static let consecutive = 8
    private static let firstGap = 3
    private static let longerGap = 1

    /// Returns the characters of a string in lower case, the form in which queries and strings are compared.
    static func characters(_ text: some StringProtocol) -> [Unicode.Scalar] { Array(text.lowercased().unicodeScalars) }

    /// Returns the score of the query's best match in the text, or nil if there is none. Matches at the start of a word
    /// and consecutive matches raise the score, and gaps lower it.
    static func score(_ query: [Unicode.Scalar], in text: [Unicode.Scalar]) -> Int? {
        guard isSubsequence(query, of: text) else { return nil }
        guard !query.isEmpty else { return 0 }
        // For each position in the text, the best score of a match that ends there; nil if there is none. The match
        // need only contain the query's characters that have been processed so far.
        var scores: [Int?] = []
        for (index, wanted) in query.enumerated() { scores = row(wanted, in: text, isFirst: index == 0, after: scores) }
        return scores.compactMap(\.self).max()
    }

    private static func row(
        _ wanted: Unicode.Scalar, in text: [Unicode.Scalar], isFirst: Bool, after former: [Int?]
    ) -> [Int?] {
        var row = [Int?](repeating: nil, count: text.count)
        // The best score of the query's earlier characters, minus the penalty for the gap before this position.
        var afterGap: Int?
        for index in text.indices {
            if index > 1, let score = former.isEmpty ? nil : former[index - 2] {
                afterGap = max(score - firstGap, afterGap.map { $0 - longerGap } ?? .min)
            } else {
                afterGap = afterGap.map { $0 - longerGap }
            }
            guard text[index] == wanted else { continue }
            let adjacent = index > 0 && !isFirst ? former[index - 1].map { $0 + consecutive } : nil
            let before = isFirst ? 0 : [adjacent, afterGap].compactMap(\.self).max()
            guard let before else { continue }
            row[index] = before + character + (startsWord(text, at: index) ? wordStart : 0)
        }
        return row
    }

    private static func isSubsequence(_ query: [Unicode.Scalar], of text: [Unicode.Scalar]) -> Bool {
        var rest = query[...]
        for scalar in text where scalar == rest.first { rest = rest.dropFirst() }
        return rest.isEmpty
    }

    private static func startsWord(_ text: [Unicode.Scalar], at index: Int) -> Bool {
        guard index > 0 else { return true }
        let former = text[index - 1].value
        let isDigitOrLetter = (0x30...0x39).contains(former) || (0x61...0x7A).contains(former) || former >= 0x80
        return !isDigitOrLetter
    }
}
