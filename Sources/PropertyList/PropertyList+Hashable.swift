import FoundationEssentials

// Iterative, so that a deep tree does not overflow a thread's stack.

extension PropertyList: Hashable {
    /// Whether both hold the same, byte for byte: strings and keys by their UTF-8 rather than by canonical equivalence,
    /// reals by their bits (0.0 is not -0.0), except that any NaN equals any other, as XML knows just one.
    package static func == (left: PropertyList, right: PropertyList) -> Bool {
        var pairs = [(left, right)]
        while let pair = pairs.popLast() {
            switch pair {
            case (.array(let left), .array(let right)):
                guard left.count == right.count else { return false }
                pairs.append(contentsOf: zip(left, right))
            case (.dictionary(let left), .dictionary(let right)):
                guard left.count == right.count else { return false }
                for (key, value) in left {
                    guard let place = right.index(forKey: key), areSame(key, right[place].key) else { return false }
                    pairs.append((value, right[place].value))
                }
            default:
                guard areSameScalars(pair.0, pair.1) else { return false }
            }
        }
        return true
    }

    private static func areSameScalars(_ left: PropertyList, _ right: PropertyList) -> Bool {
        switch (left, right) {
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): areSame(left, right)
        case (.string(let left), .string(let right)): areSame(left, right)
        case (.data(let left), .data(let right)): left == right
        case (.date(let left), .date(let right)):
            // Unlike as a real, -0.0 is the same second as 0.0.
            left == right || areSame(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
        default: false
        }
    }

    private static func areSame(_ left: Double, _ right: Double) -> Bool {
        left.bitPattern == right.bitPattern || (left.isNaN && right.isNaN)
    }

    private static func areSame(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }

    /// Containers count with their size alone: cheap at any depth, and trees are compared more often than looked up.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
        case .string(let value): hasher.combine(value)
        case .data(let value): hasher.combine(value)
        case .date(let value):
            let time = value.timeIntervalSinceReferenceDate
            hasher.combine(time.isNaN ? Double.nan : time)
        case .array(let values): hasher.combine(values.count)
        case .dictionary(let values): hasher.combine(values.count)
        }
    }
}
