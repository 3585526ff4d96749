import Formats
import Vault

/// An environment variable for another program.
struct VariableRequest {
    enum Source {
        case entry(String)
        /// A literal value from a `.env` file, labelled with its origin.
        case plain(HeldValue)
    }

    let name: String
    let source: Source

    var entry: String? { if case .entry(let name) = source { name } else { nil } }

    /// Parses `NAME=REFERENCE` pairs.
    ///
    /// - Parameter what: how an error message names the source of the pairs, such as `Option --env`.
    static func parse(_ pairs: [String], _ what: String) throws(UsageError) -> [VariableRequest] {
        var requests: [VariableRequest] = []
        for pair in pairs {
            guard let (name, entry) = Attributes.split(pair), isVariable(name), !entry.isEmpty else {
                throw .badVariable(what)
            }
            requests.append(.init(name: name, source: .entry(entry)))
        }
        return requests
    }

    /// Throws a usage error if two requests set the same variable, because it is unclear which value is meant.
    static func checkForDoubles(_ requests: [VariableRequest]) throws(UsageError) {
        var names: Set<String> = []
        for request in requests where !names.insert(request.name).inserted { throw .doubledVariable(request.name) }
    }

    /// The prefix of a value in a `.env` file that refers to an entry.
    static let scheme = Array("vault:".utf8)

    /// Reads `.env` files. A value of the form `vault:NAME` refers to an entry. All other values are taken literally.
    static func read(_ paths: [String]) throws -> [VariableRequest] {
        try paths.flatMap { path in
            let text = try ValueInput.readText(at: path)
            do {
                return try DotEnv.variables(in: text).map { try VariableRequest($0, in: path) }
            } catch let error as FormatError { throw CommandError.malformed(error, in: path) }
        }
    }

    private init(_ variable: DotEnv.Variable, in path: String) throws {
        guard VariableRequest.isVariable(variable.name) else {
            throw FormatError(line: variable.line, "the name of a variable may contain only letters, digits and _")
        }
        name = variable.name
        guard variable.value.starts(with: VariableRequest.scheme) else {
            let label = "The value on line \(variable.line) of \(path)"
            source = .plain(HeldValue(label, try SecretBytes(copying: variable.value)))
            return
        }
        guard let entry = String(validating: variable.value.dropFirst(VariableRequest.scheme.count), as: UTF8.self),
            !entry.isEmpty
        else { throw FormatError(line: variable.line, "vault: is not followed by the name of an entry") }
        source = .entry(entry)
    }

    private init(name: String, source: Source) {
        self.name = name
        self.source = source
    }

    /// Returns whether shells accept `name` as the name of a variable.
    private static func isVariable(_ name: String) -> Bool {
        let isFirst: (UInt8) -> Bool = {
            $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
        }
        let isDigit: (UInt8) -> Bool = { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return name.utf8.first.map(isFirst) == true && name.utf8.allSatisfy { isFirst($0) || isDigit($0) }
    }
}
