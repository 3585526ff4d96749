enum NearName {
    /// Returns the candidate that differs from `typed` by the fewest typing mistakes, or nil if none is similar. A
    /// mistake is an extra, missing, wrong or swapped letter. Ignores case.
    static func nearest(to typed: String, among candidates: some Sequence<String>) -> String? {
        let word = Array(typed.lowercased().utf8)
        // One mistake per three letters is accepted, but no more than three in total. Wilder guesses would annoy users.
        var limit = min(3, max(1, word.count / 3))
        var best: String?
        for candidate in candidates where abs(candidate.utf8.count - word.count) <= limit {
            let found = distance(word, Array(candidate.lowercased().utf8))
            if found < limit || (found == limit && best == nil) {
                best = candidate
                limit = found
            }
        }
        return best
    }

    /// Returns a question that suggests `near`, for the end of an error message, or an empty string if `near` is nil.
    static func question(_ near: String?) -> String { near.map { " Did you mean \"\($0)\"?" } ?? "" }

    /// Returns the optimal string alignment distance between two words.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for column in 0..<right.count {
                let substitution = last[column] + (left[row] == right[column] ? 0 : 1)
                var cost = min(substitution, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}

extension String {
    /// Whether the word looks like an option. A single dash does not: by convention, it stands for standard input.
    var isOption: Bool { utf8.count > 1 && utf8.first == UInt8(ascii: "-") }
}
