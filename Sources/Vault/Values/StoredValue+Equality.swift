import FoundationEssentials

// Two values are the same if a store would keep the same bytes for them. The standard library's own equality takes two
// spellings of an accented letter for one string, tells no -0.0 from 0.0, and a NaN from itself: a change would
// go unnoticed, or a comparison never come out.

extension StoredValue: Hashable {
    public static func == (left: StoredValue, right: StoredValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.data(let left), .data(let right)), (.untyped(let left), .untyped(let right)): left == right
        case (.date(let left), .date(let right)):
            left.timeIntervalSinceReferenceDate.bitPattern == right.timeIntervalSinceReferenceDate.bitPattern
        case (.array(let left), .array(let right)): left == right
        case (.dictionary(let left), .dictionary(let right)): areSame(left, right)
        default: false
        }
    }

    private static func areSame(_ left: [String: StoredValue], _ right: [String: StoredValue]) -> Bool {
        left.count == right.count
            && left.allSatisfy { key, value in
                guard let place = right.index(forKey: key) else { return false }
                // The other's own key: the one that was looked up may be another spelling of it.
                return right[place].key.utf8.elementsEqual(key.utf8) && right[place].value == value
            }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(typeName)
        switch self {
        case .null: break
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value.bitPattern)
        case .string(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .data(let value), .untyped(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate.bitPattern)
        case .array(let values): hasher.combine(values)
        case .dictionary(let values): hasher.combine(values)
        }
    }
}
