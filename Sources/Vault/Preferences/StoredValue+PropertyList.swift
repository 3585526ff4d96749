import FoundationEssentials
import PropertyList

// Three cases have a form of their own in a property list. `untyped` is written as data. The other two are written as
// dictionaries that no other value is written as: `null` as `{$nil: true}`, and, since XML holds whole seconds, a date
// that it cannot hold as `{$date: seconds since 2001}`.

extension StoredValue {
    private static let nilKey = "$nil"
    private static let dateKey = "$date"

    /// Returns the value whose form this is; a part of a property list that is only itself stays as it is.
    init(propertyList form: StoredValue) {
        switch form {
        case .array(let forms): self = .array(forms.map(StoredValue.init(propertyList:)))
        case .dictionary(let forms):
            self = StoredValue(replacedBy: forms) ?? .dictionary(forms.mapValues(StoredValue.init(propertyList:)))
        default: self = form
        }
    }

    /// nil for a dictionary that is only itself.
    private init?(replacedBy form: [String: StoredValue]) {
        guard form.count == 1 else { return nil }
        if case .boolean(true) = form[StoredValue.nilKey] {
            self = .null
        } else if case .real(let seconds) = form[StoredValue.dateKey] {
            self = .date(Date(timeIntervalSinceReferenceDate: seconds))
        } else {
            return nil
        }
    }

    /// Returns the value's form.
    ///
    /// - Throws: ``VaultError/Code/invalid`` if it has none.
    func propertyList(for key: String, depth: Int = 0) throws(VaultError) -> StoredValue {
        guard depth < StoredValue.maximumDepth else {
            throw VaultError(
                .invalid, "The value for \"\(key)\" is nested more than \(StoredValue.maximumDepth) levels deep.")
        }
        switch self {
        case .null: return .dictionary([StoredValue.nilKey: .boolean(true)])
        case .untyped(let bytes): return .data(bytes)
        case .date(let date) where !CalendarTime.holds(date):
            return .dictionary([StoredValue.dateKey: .real(date.timeIntervalSinceReferenceDate)])
        case .array(let values):
            return .array(
                try values.map { (value) throws(VaultError) in try value.propertyList(for: key, depth: depth + 1) })
        case .dictionary(let values):
            var forms: [String: StoredValue] = [:]
            for (name, value) in values { forms[name] = try value.propertyList(for: key, depth: depth + 1) }
            guard StoredValue(replacedBy: forms) == nil else {
                throw VaultError(
                    .invalid,
                    "A dictionary in the value for \"\(key)\" has the form that stands for nil or a date in a property list."
                )
            }
            return .dictionary(forms)
        case .boolean, .integer, .real, .string, .data, .date: return self
        }
    }
}

extension StoreBatch {
    /// Returns the changes in the forms that they have in a property list.
    ///
    /// - Throws: ``VaultError/Code/invalid`` for a value that has none.
    func propertyLists() throws(VaultError) -> [String: StoredValue?] {
        var forms: [String: StoredValue?] = [:]
        for (key, value) in changes { forms.updateValue(try value?.propertyList(for: key), forKey: key) }
        return forms
    }
}
