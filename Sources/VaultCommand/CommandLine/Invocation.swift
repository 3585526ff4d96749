/// A checked command line: a known command, known options, the right number of arguments.
struct Invocation: Equatable, Sendable {
    struct Option: Equatable, Sendable {
        let name: OptionName
        /// nil for an option without a value.
        let value: String?
    }

    let command: CommandName
    var arguments: [String] = []
    var options: [Option] = []

    func has(_ name: OptionName) -> Bool {
        options.contains { $0.name == name }
    }

    /// Returns the value of an option that may be given once.
    func value(of name: OptionName) -> String? {
        options.first { $0.name == name }?.value
    }

    /// Returns all values of a repeatable option, in order.
    func values(of name: OptionName) -> [String] {
        options.filter { $0.name == name }.compactMap(\.value)
    }
}
