import Vault

/// A checked command line: a known command, known options, the right number of arguments.
struct Invocation: Equatable, Sendable {
    let command: CommandName
    var arguments: [String] = []
    /// The values of each option that is given, in order; none for an option that takes none.
    var options: [OptionName: [String]] = [:]

    func has(_ name: OptionName) -> Bool { options[name] != nil }

    func value(of name: OptionName) -> String? { options[name]?.first }

    /// nil unless `--timeout` is given.
    var lockTimeout: Duration? {
        get throws(UsageError) {
            guard let text = value(of: .timeout) else { return nil }
            // Not a number fails both comparisons.
            guard let seconds = Double(text), seconds >= 0, seconds <= 1_000_000 else { throw .badTimeout }
            return .seconds(seconds)
        }
    }

    /// From passes over the memory, and the memory in MiB; nil unless `--argon2id` is given.
    var stretchCost: KeyFileCost? {
        get throws(UsageError) {
            guard let text = value(of: .argon2id) else { return nil }
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
            guard numbers.count == 2, let passes = numbers[0], let mebibytes = numbers[1],
                case (let memory, false) = mebibytes.multipliedReportingOverflow(by: 1 << 20)
            else { throw .badCost }
            return KeyFileCost(passes: passes, memory: memory)
        }
    }
}

extension OptionDescription {
    static let stretchCost = OptionDescription(
        name: .argon2id, value: "PASSES,MIB",
        help: "Argon2id passes and memory: the cost of guessing a key file that was not generated.")
}

/// Attributes as they are typed: `KEY=VALUE`.
enum Attributes {
    /// Returns the pairs as a dictionary. Errors repeat none of them: a secret may have been typed by mistake.
    static func parse(_ pairs: [String]) throws(UsageError) -> [String: String] {
        var attributes: [String: String] = [:]
        for pair in pairs {
            guard let (key, value) = split(pair) else { throw .badAttribute }
            guard attributes.updateValue(value, forKey: key) == nil else { throw .doubledAttribute }
        }
        return attributes
    }

    /// Splits an attribute, or an option with its value; nil if there is no equals sign, or nothing before it.
    static func split(_ pair: String) -> (key: String, value: String)? {
        guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")), equals > pair.startIndex else { return nil }
        return (String(pair[..<equals]), String(pair[pair.utf8.index(after: equals)...]))
    }
}
