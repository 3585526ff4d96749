import FoundationEssentials
import PropertyList

// A value as a property list and back. Two things have no form of their own there, and are written as dictionaries that no other value
// is written as: nil inside a collection, `{$nil: true}`, and, since XML holds whole seconds, a date with a fraction of a
// second, `{$date: seconds since 2001}`.

extension StoredValue {
    private static let nilKey = "$nil"
    private static let dateKey = "$date"

    init(_ list: PropertyList) {
        switch list {
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .string(let value): self = .string(value)
        case .data(let value): self = .data(value)
        case .date(let value): self = .date(value)
        case .array(let values): self = .array(values.map(StoredValue.init))
        case .dictionary(let values): self.init(values)
        }
    }

    private init(_ values: [String: PropertyList]) {
        if values.count == 1, case .boolean(true) = values[StoredValue.nilKey] {
            self = .null
        } else if values.count == 1, case .real(let seconds) = values[StoredValue.dateKey] {
            self = .date(Date(timeIntervalSinceReferenceDate: seconds))
        } else {
            self = .dictionary(values.mapValues(StoredValue.init))
        }
    }

    /// - Throws: ``VaultError/Code/invalid`` if a property list cannot hold the value.
    func propertyList(for key: String) throws(VaultError) -> PropertyList {
        guard let list = try propertyList(for: key, depth: 0) else {
            throw VaultError(
                .invalid, "The value for \"\(key)\" is nested more than \(StoredValue.maximumDepth) levels deep.")
        }
        return list
    }

    private func propertyList(for key: String, depth: Int) throws(VaultError) -> PropertyList? {
        guard depth < StoredValue.maximumDepth else { return nil }
        switch self {
        case .null: return .dictionary([StoredValue.nilKey: .boolean(true)])
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .real(let value): return .real(value)
        case .string(let value): return .string(value)
        case .data(let value), .untyped(let value): return .data(value)
        case .date(let value): return value.propertyList
        case .array(let values):
            var lists: [PropertyList] = []
            for value in values {
                guard let list = try value.propertyList(for: key, depth: depth + 1) else { return nil }
                lists.append(list)
            }
            return .array(lists)
        case .dictionary(let values):
            var lists: [String: PropertyList] = [:]
            for (name, value) in values {
                guard let list = try value.propertyList(for: key, depth: depth + 1) else { return nil }
                lists[name] = list
            }
            // It would be read back as something else.
            guard case .dictionary = StoredValue(lists) else {
                throw VaultError(
                    .invalid,
                    "A dictionary in the value for \"\(key)\" has the form that stands for nil or a date in a property list."
                )
            }
            return .dictionary(lists)
        }
    }
}

extension Date {
    fileprivate var propertyList: PropertyList {
        let seconds = timeIntervalSinceReferenceDate
        // The years 1 to 9999, which XML dates can show.
        let isPlain =
            seconds.rounded() == seconds && (-63_113_904_000..<252_455_616_000).contains(seconds)
            && !(seconds == 0 && seconds.sign == .minus)
        return isPlain ? .date(self) : .dictionary(["$date": .real(seconds)])
    }
}
