import FoundationEssentials
import Glibc
import Vault

/// The result of a calculation, as it is stored.
struct LongestChain: StoredAsCodable {
    /// Starts below it were tried.
    var limit: Int
    var start: Int
    var steps: Int
    var computed: Date
}

extension LongestChain {
    /// Finds the start below `limit` from which the Collatz sequence (halve what is even, triple what is odd and add
    /// one) takes the most steps to 1.
    init(below limit: Int) {
        self.init(limit: limit, start: 1, steps: 0, computed: .now)
        for candidate in 1..<limit {
            var number = candidate
            var steps = 0
            while number != 1 {
                number = number.isMultiple(of: 2) ? number / 2 : 3 * number + 1
                steps += 1
            }
            if steps > self.steps {
                start = candidate
                self.steps = steps
            }
        }
    }

    var sentence: String {
        "below \(limit), the longest chain starts at \(start) and takes \(steps) steps"
    }
}

/// Computes something at the first start, and shows it from the preferences at every later one.
@main
struct Example {
    static let result: Storable<LongestChain> = "example.longestChain"

    static func main() {
        do {
            if let kept = try result.read() {
                print("from last time (\(kept.computed.formatted(.iso8601))): \(kept.sentence)")
            } else {
                let new = LongestChain(below: 100_000)
                try result.write(new)
                print("computed: \(new.sentence)")
            }
        } catch {
            print("VaultExample: \(error)")
            exit(1)
        }
    }
}
