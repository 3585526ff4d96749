/// Finds what somebody meant who mistyped a name.
enum NearName {
    /// The candidate with the fewest slips between it and the typed word; nil if none is near. A slip is a letter too
    /// many, missing, wrong or exchanged with its neighbour; the case of letters is none.
    static func nearest(to typed: String, among candidates: some Sequence<String>) -> String? {
        let word = Array(typed.lowercased().utf8)
        // One slip in three letters, three at most: beyond that, guesses annoy.
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

    /// The optimal string alignment distance of two words of bytes.
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
