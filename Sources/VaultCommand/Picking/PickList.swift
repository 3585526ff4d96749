/// A list of names, from which a user chooses one by typing parts of it. It can be tested without a terminal.
struct PickList {
    struct Candidate {
        let name: String
        let note: String
        /// The name and the attribute values, in the form in which ``FuzzyMatch`` compares them.
        fileprivate let searched: [[Unicode.Scalar]]

        /// - Parameter attributes: attribute values, which are shown and searched like the name.
        init(name: String, attributes: [String] = []) {
            self.name = name
            note = attributes.joined(separator: "  ").onOneLine
            searched = ([name] + attributes).map(FuzzyMatch.characters)
        }

        /// Returns the candidate's score for the words of a query, or nil if a word matches neither the name nor an
        /// attribute. A match in an attribute counts for half.
        fileprivate func score(_ words: [[Unicode.Scalar]]) -> Int? {
            var sum = 0
            for word in words {
                let ofName = FuzzyMatch.score(word, in: searched[0])
                let ofOthers = searched.dropFirst().compactMap { FuzzyMatch.score(word, in: $0) }.max()
                guard let best = [ofName, ofOthers.map { $0 / 2 }].compactMap(\.self).max() else { return nil }
                sum += best
            }
            return sum
        }
    }

    enum Outcome: Equatable {
        case goesOn, cancelled
        case chosen(String)
    }

    private static let prompt = "Pick: "
    private static let largestHeight = 10

    private let candidates: [Candidate]
    private(set) var query = ""
    /// The indices of the matching candidates, beginning with the best match.
    private var matches: [Int]
    private var selected = 0

    init(_ candidates: [Candidate]) {
        self.candidates = candidates
        matches = Array(candidates.indices)
    }

    var matchingNames: [String] { matches.map { candidates[$0].name } }

    mutating func take(_ key: KeyDecoder.Key) -> Outcome {
        switch key {
        case .cancel: return .cancelled
        case .enter: if matches.indices.contains(selected) { return .chosen(candidates[matches[selected]].name) }
        case .up: selected = max(selected - 1, 0)
        case .down: selected = min(selected + 1, max(matches.count - 1, 0))
        case .text(let scalar): search(query + String(scalar), within: matches)
        case .erase: search(String(query.dropLast()))
        case .eraseLine: search("")
        case .eraseWord:
            let withoutBlanks = query.reversed().drop { $0 == " " }
            search(String(withoutBlanks.drop { $0 != " " }.reversed()))
        }
        return .goesOn
    }

    /// Searches the candidates. If the query was merely extended, only the previous matches need to be searched.
    private mutating func search(_ query: String, within searched: [Int]? = nil) {
        self.query = query
        selected = 0
        let words = query.split(separator: " ").map(FuzzyMatch.characters)
        guard !words.isEmpty else {
            matches = Array(candidates.indices)
            return
        }
        var scored: [(index: Int, score: Int)] = []
        for index in searched ?? Array(candidates.indices) {
            if let score = candidates[index].score(words) { scored.append((index, score)) }
        }
        // Candidates with equal scores are sorted by length, because the query covers more of a shorter name.
        scored.sort { left, right in
            let sizes = (candidates[left.index].name.utf8.count, candidates[right.index].name.utf8.count)
            return (-left.score, sizes.0, left.index) < (-right.score, sizes.1, right.index)
        }
        matches = scored.map(\.index)
    }

    /// Returns the line with the query, the cursor's column in this line, and the page of names with the selected one.
    func lines(columns: Int, rows: Int) -> (query: String, cursor: Int, names: [String]) {
        // The last column stays empty, because terminals differ in where they leave the cursor after writing to it.
        let width = max(columns - 1, 1)
        let prompt = PickList.prompt.columns * 2 > width ? "" : PickList.prompt
        let line = prompt + query.endFitted(to: width - prompt.columns)
        let height = max(min(rows - 1, PickList.largestHeight), 1)
        let start = selected / height * height
        let names = (start..<min(start + height, matches.count)).map { row in
            let candidate = candidates[matches[row]]
            let name = candidate.name.onOneLine
            let text = candidate.note.isEmpty ? name : "\(name)  (\(candidate.note))"
            return ((row == selected ? "> " : "  ") + text).fitted(to: width)
        }
        return (line, line.columns, names.isEmpty ? ["  no match".fitted(to: width)] : names)
    }
}
