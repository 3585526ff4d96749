/// What is wrong with a value that cannot be converted. Names types, never values.
enum ConversionProblem: Error {
    case mismatch(expected: String, found: String)
    /// Of the right type, but not one of its values: the type, with its article.
    case outOfBounds(String)
    /// A field that is required: its key.
    case missing(String)
    /// The type's own code refuses the value.
    case refused
    case tooDeep
    /// The type's own code encodes the value as an array and as a dictionary, for example.
    case twoForms

    /// A part of a sentence.
    var text: String {
        switch self {
        case .mismatch(let expected, let found): "expected \(expected), found \(found)"
        case .outOfBounds(let type): "\(type) out of bounds"
        case .missing(let key): "the field \(key) is missing"
        case .refused: "its type refuses it"
        case .tooDeep: "nested more than \(StoredValue.maximumDepth) levels deep"
        case .twoForms: "its type encodes it in two forms"
        }
    }
}

/// Why a value cannot be converted, and the location of the reason in it.
struct ConversionFailure: Error {
    /// Stands for a key that may be data.
    static let hiddenKey = "*"

    /// Field names that types declare, and indices.
    private(set) var path: [String] = []
    let problem: ConversionProblem

    init(_ problem: ConversionProblem) {
        self.problem = problem
    }

    /// - Parameter error: an error of Codable. Its text may quote the value, so only its path and our own words are
    ///   used.
    init(_ error: any Error) {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            self.init(.missing(key.shown), at: context.codingPath)
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            self.init(context.underlyingError as? ConversionProblem ?? .refused, at: context.codingPath)
        case EncodingError.invalidValue(_, let context):
            self.init(context.underlyingError as? ConversionProblem ?? .refused, at: context.codingPath)
        default: self.init(.refused)
        }
    }

    private init(_ problem: ConversionProblem, at path: [any CodingKey]) {
        self.path = path.map(\.shown)
        self.problem = problem
    }

    /// Returns the same failure for the container that holds the value at `key`.
    func inside(_ key: String) -> ConversionFailure {
        var outer = self
        outer.path.insert(key, at: 0)
        return outer
    }

    /// A part of a sentence: "at points.3.x: expected a real number, found a string".
    var text: String {
        path.isEmpty ? problem.text : "at \(path.joined(separator: ".")): \(problem.text)"
    }
}

extension VaultError {
    init(unstorable failure: ConversionFailure, for key: String, _ type: Any.Type) {
        self.init(.invalid, "This \(type) for \"\(key)\" cannot be stored: \(failure.text).")
    }

    init(unreadable failure: ConversionFailure, of key: String, as type: Any.Type, _ stored: StoredValue) {
        switch failure.problem {
        case .mismatch(let expected, let found) where failure.path.isEmpty:
            self.init(
                .wrongType, "The value of \"\(key)\" is \(found), but was asked for as \(expected) (\(type)).")
        case .refused where failure.path.isEmpty, .outOfBounds where failure.path.isEmpty:
            self.init(
                .unreadable,
                "The value of \"\(key)\" is \(stored.typeName), but not one that \(type) can be read from; it stays stored."
            )
        default:
            self.init(
                .unreadable,
                "The value of \"\(key)\" cannot be read as \(type) (\(failure.text)); it stays stored.")
        }
    }
}

/// A key that no type declares: an element's index, or the key of a superclass.
struct UndeclaredKey: CodingKey {
    static let superclass = UndeclaredKey(stringValue: "super")

    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        // The form of the standard library's own keys, which may be in the path of an error that a type throws.
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }
}

extension CodingKey {
    /// The key as an error may show it: indices, and keys that a type declares as cases of an enum. Any other key may
    /// come from data, as a dictionary's does, and so be part of the value.
    var shown: String {
        if let intValue, stringValue == UndeclaredKey(intValue: intValue).stringValue { return String(intValue) }
        if self is UndeclaredKey { return stringValue }
        let mirror = Mirror(reflecting: self)
        return mirror.displayStyle == .enum && mirror.children.isEmpty ? stringValue : ConversionFailure.hiddenKey
    }
}
