import FoundationEssentials
import Vault

/// A validated command line, with a known command, known options and the right number of arguments.
struct Invocation: Equatable, Sendable {
    let command: CommandName
    var arguments: [String] = []
    /// The values of each option on the command line, in order; an empty list for an option that takes no value.
    var options: [OptionName: [String]] = [:]
    var changesNothing = false
    /// The functions that open vaults in databases, or nil in a program without database support.
    var databases: VaultLocation.Databases?
    /// The location of the vault, if it has already been determined from the options.
    var knownLocation: VaultLocation?

    func has(_ name: OptionName) -> Bool { options[name] != nil }
    func value(of name: OptionName) -> String? { options[name]?.first }

    /// How long to wait for other processes; nil without `--timeout`, or for `vault unlock`, which uses it differently.
    var lockTimeout: Duration? {
        get throws(UsageError) {
            guard command != .unlock, let text = value(of: .timeout) else { return nil }
            // These comparisons also reject NaN.
            guard let seconds = Double(text), seconds >= 0, seconds <= 1_000_000 else { throw .badTimeout }
            return .seconds(seconds)
        }
    }

    func duration(of option: OptionName) throws(UsageError) -> Duration? {
        guard let text = value(of: option) else { return nil }
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        let unit = text.last.flatMap { units[$0] }
        guard let number = Int(unit == nil ? text : String(text.dropLast())), number > 0, number <= 1_000_000 else {
            throw .badDuration(option)
        }
        return .seconds(number * (unit ?? 1))
    }

    /// The time at which the value expires, from the duration or date of `--expires`; nil without this option.
    var expiry: Date? {
        get throws(UsageError) {
            guard let text = value(of: .expires) else { return nil }
            let now = Date()
            if let date = Timestamp.date(text) {
                guard date > now else { throw .pastDate(.expires) }
                return date
            }
            // Other options read a bare number as seconds. Here it is rejected, because the user may mean days.
            guard text.last?.isLetter == true, let time = try? duration(of: .expires) else { throw .badExpiry }
            return now.addingTimeInterval(Double(time.components.seconds))
        }
    }

    /// The time of `--since` in milliseconds since 1970; nil if this option is not given.
    var since: UInt64? {
        get throws(UsageError) {
            guard let text = value(of: .since) else { return nil }
            if let date = Timestamp.date(text) { return UInt64(max(date.timeIntervalSince1970, 0) * 1000) }
            let span: Duration?
            do throws(UsageError) { span = try duration(of: .since) } catch { throw .badSince }
            return span.map { UInt64(max(Date().timeIntervalSince1970 - Double($0.components.seconds), 0) * 1000) }
        }
    }

    /// The limits of the history from `--keep N,DAYS`; nil if this option is not given.
    var historyLimits: Keychain.History.Retention? {
        get throws(UsageError) {
            guard let text = value(of: .keep) else { return nil }
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
            guard numbers.count == 2, let versions = numbers[0], let days = numbers[1] else { throw .badHistory }
            return Keychain.History.Retention(versions: versions, days: days)
        }
    }

    func number(of option: OptionName) throws(UsageError) -> Int? {
        guard let text = value(of: option) else { return nil }
        return try number(text, option.spelling)
    }

    /// Parses a whole number of at least 1. If `text` is invalid, the error names the option or argument `what`.
    func number(_ text: String, _ what: String) throws(UsageError) -> Int {
        guard let number = Int(text), number > 0 else { throw .badNumber(what) }
        return number
    }

    /// The Argon2id cost from `--argon2id PASSES,MIB`; nil if this option is not given.
    var stretchCost: Keychain.KeyFileCost? {
        get throws(UsageError) {
            guard let text = value(of: .argon2id) else { return nil }
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
            guard numbers.count == 2, let passes = numbers[0], let mebibytes = numbers[1],
                case (let memory, false) = mebibytes.multipliedReportingOverflow(by: 1 << 20)
            else { throw .badCost }
            return Keychain.KeyFileCost(passes: passes, memory: memory)
        }
    }
}

/// The parser of attributes, which users type as `KEY=VALUE`.
enum Attributes {
    /// Returns the pairs as a dictionary. Errors do not repeat the pairs, which may contain a secret typed by mistake.
    static func parse(_ pairs: [String]) throws(UsageError) -> [String: String] {
        var attributes: [String: String] = [:]
        for pair in pairs {
            guard let (key, value) = split(pair) else { throw .badAttribute }
            guard attributes.updateValue(value, forKey: key) == nil else { throw .doubledAttribute }
        }
        return attributes
    }

    /// Splits `KEY=VALUE` or `--option=VALUE`. Returns nil if there is no equals sign, or nothing before it.
    static func split(_ pair: String) -> (key: String, value: String)? {
        guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")), equals > pair.startIndex else { return nil }
        return (String(pair[..<equals]), String(pair[pair.utf8.index(after: equals)...]))
    }
}
