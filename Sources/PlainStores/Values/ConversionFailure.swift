/// The reason why a value cannot be converted. It names types, and contains no values.
enum ConversionProblem: Error {
    case mismatch(expected: String, found: String)
    /// The value has the right type but is out of range. The string is the type's name with "a" or "an".
    case outOfBounds(String)
    case missing(String)
    case refused, tooDeep, twoForms

    /// The problem as a sentence fragment.
    var text: String {
        switch self {
        case .mismatch(let expected, let found): "expected \(expected), found \(found)"
        case .outOfBounds(let type): "\(type) out of bounds"
        case .missing(let key): "the field \(key) is missing"
        case .refused: "its type rejects it"
        case .tooDeep: "nested more than \(StoredValue.maximumDepth) levels deep"
        case .twoForms: "its type encodes it in conflicting ways"
        }
    }
}

/// The reason why a value cannot be converted, and the location inside the value where the conversion failed.
struct ConversionFailure {
    /// The text that an error shows instead of a key that may be part of the value, such as a dictionary's key.
    static let hiddenKey = "*"

    /// The location of the failure inside the value: indices and declared field names, or ``hiddenKey`` for other keys.
    let path: [String]
    let problem: ConversionProblem

    /// A sentence fragment, such as "at points.3.x: expected a real number, found a string".
    var text: String { path.isEmpty ? problem.text : "at \(path.joined(separator: ".")): \(problem.text)" }

    func inside(_ key: String) -> ConversionFailure { ConversionFailure(path: [key] + path, problem: problem) }
}

extension ConversionFailure {
    init(_ problem: ConversionProblem, at path: [any CodingKey] = []) {
        self.init(path: path.map(\.shown), problem: problem)
    }

    /// Creates the failure for a Codable error. The error's own text is not used, since it may quote the value.
    init(_ error: any Error) {
        switch error {
        case DecodingError.keyNotFound(let key, let context): self.init(.missing(key.shown), at: context.codingPath)
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            self.init(context.underlyingError as? ConversionProblem ?? .refused, at: context.codingPath)
        case EncodingError.invalidValue(_, let context):
            self.init(context.underlyingError as? ConversionProblem ?? .refused, at: context.codingPath)
        default: self.init(.refused)
        }
    }
}

extension VaultError {
    init(unstorable failure: ConversionFailure, for key: String, _ type: Any.Type) {
        self.init(.invalid, "This \(type) for \"\(key)\" cannot be stored: \(failure.text).")
    }

    init(unreadable failure: ConversionFailure, of key: String, as type: Any.Type, _ stored: StoredValue) {
        let value = "The value of \"\(key)\""
        switch failure.problem {
        case .mismatch(let expected, let found) where failure.path.isEmpty:
            self.init(.wrongType, "\(value) is \(found), so it cannot be read as \(expected) (\(type)).")
        case .refused where failure.path.isEmpty, .outOfBounds where failure.path.isEmpty:
            let found = stored.typeName
            self.init(.unreadable, "\(value) is \(found), but \(type) cannot be created from it. It was left alone.")
        default: self.init(.unreadable, "\(value) cannot be read as \(type) (\(failure.text)). It was left alone.")
        }
    }
}

// A failed conversion returns nil without a reason. To find the reason, the functions below repeat the conversion. They
// return nil if it succeeds. That way, the conversions themselves need not track a path.

extension StoredObject {
    static func failure(reading stored: StoredValue) -> ConversionFailure? {
        if let type = Self.self as? any StoredAsCodable.Type {
            do { _ = try stored.decoded(as: type) } catch { return ConversionFailure(error) }
            return nil
        }
        if let type = Self.self as? any StoredContainer.Type, let failure = type.contentFailure(reading: stored) {
            return failure
        }
        if let primitive = Primitive(stored: stored) {
            return from(primitive: primitive) == nil ? ConversionFailure(.refused) : nil
        }
        let (expected, found) = (Primitive.primitiveName, stored.typeName)
        return ConversionFailure(found == expected ? .outOfBounds(found) : .mismatch(expected: expected, found: found))
    }

    func failureStoring() -> ConversionFailure? {
        if let value = self as? any StoredAsCodable {
            do { _ = try StoredValue(encoding: value) } catch { return ConversionFailure(error) }
            return nil
        }
        if let failure = (self as? any StoredContainer)?.contentFailureStoring() { return failure }
        return toPrimitive() == nil ? ConversionFailure(.refused) : nil
    }
}

/// A type whose values contain other values, each of which can fail to convert.
private protocol StoredContainer {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure?
    func contentFailureStoring() -> ConversionFailure?
}

extension Array: StoredContainer where Element: StoredObject {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure? {
        guard case .array(let values) = stored else { return nil }
        return values.enumerated().firstResult { Element.failure(reading: $1)?.inside(String($0)) }
    }

    func contentFailureStoring() -> ConversionFailure? {
        enumerated().firstResult { $1.failureStoring()?.inside(String($0)) }
    }
}

extension Dictionary: StoredContainer where Key: DictionaryKey, Value: StoredObject {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure? {
        guard case .dictionary(let values) = stored else { return nil }
        return values.values.firstResult(Value.failure(reading:))?.inside(ConversionFailure.hiddenKey)
    }

    func contentFailureStoring() -> ConversionFailure? {
        values.firstResult { $0.failureStoring() }?.inside(ConversionFailure.hiddenKey)
    }
}

extension Set: StoredContainer where Element: StoredObject {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure? {
        [Element].contentFailure(reading: stored)
    }

    // The error shows no index, since a set's elements have no stable indices.
    func contentFailureStoring() -> ConversionFailure? {
        firstResult { $0.failureStoring() }?.inside(ConversionFailure.hiddenKey)
    }
}

extension Range: StoredContainer where Bound: StoredObject {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure? {
        [Bound].contentFailure(reading: stored)
    }

    func contentFailureStoring() -> ConversionFailure? { [lowerBound, upperBound].contentFailureStoring() }
}

extension ClosedRange: StoredContainer where Bound: StoredObject {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure? {
        [Bound].contentFailure(reading: stored)
    }

    func contentFailureStoring() -> ConversionFailure? { [lowerBound, upperBound].contentFailureStoring() }
}

extension Optional: StoredContainer where Wrapped: StoredObject {
    static func contentFailure(reading stored: StoredValue) -> ConversionFailure? {
        if case .null = stored { nil } else { Wrapped.failure(reading: stored) }
    }

    func contentFailureStoring() -> ConversionFailure? { self?.failureStoring() }
}

extension Sequence {
    fileprivate func firstResult<Result>(_ transform: (Element) -> Result?) -> Result? {
        for element in self { if let result = transform(element) { return result } }
        return nil
    }
}

/// A coding key that no type declares: an element's index, or the key of a superclass.
struct UndeclaredKey: CodingKey {
    static let superclass = UndeclaredKey(stringValue: "super")
    let stringValue: String
    var intValue: Int?

    init(stringValue: String) { self.stringValue = stringValue }
    init(intValue: Int) {
        // The standard library's own keys for indices look the same, and may occur in errors that a type throws.
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }
}

extension CodingKey {
    /// The key as it may appear in an error. Only indices and keys that a type declares as cases of an enum are shown.
    /// Any other key, such as a dictionary's, is hidden, since it may be part of the value.
    var shown: String {
        if let intValue, stringValue == UndeclaredKey(intValue: intValue).stringValue { return String(intValue) }
        if self is UndeclaredKey { return stringValue }
        let mirror = Mirror(reflecting: self)
        return mirror.displayStyle == .enum && mirror.children.isEmpty ? stringValue : ConversionFailure.hiddenKey
    }
}
