/// What is wrong with a value that cannot be converted. Names types, never values.
enum ConversionProblem: Error {
    case mismatch(expected: String, found: String)
    /// Of the right type, but not one of its values: the type, with its article.
    case outOfBounds(String)
    /// A field that has to be there: its key.
    case missing(String)
    /// The type's own code says no.
    case refused
    case tooDeep
    /// The type's own code encodes itself as an array and as a dictionary, say.
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

/// Why a value cannot be converted, and where in it the reason lies.
struct ConversionFailure: Error {
    /// Stands for a key that may be data.
    static let hiddenKey = "*"

    /// Field names that types declare, and indices.
    private(set) var path: [String] = []
    let problem: ConversionProblem

    init(_ problem: ConversionProblem) {
        self.problem = problem
    }

    /// - Parameter error: what Codable threw. Its own text may quote the value: only its path and our own words are taken.
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

    /// The same failure, told by what holds the value at `key`.
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
