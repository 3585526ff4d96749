/// A command line that the table has been held against: a known command, known options, the right number of arguments.
struct Invocation: Equatable, Sendable {
    struct Option: Equatable, Sendable {
        let name: OptionName
        /// nil for an option that takes none.
        let value: String?
    }

    let command: CommandName
    var arguments: [String] = []
    var options: [Option] = []

    func has(_ name: OptionName) -> Bool {
        options.contains { $0.name == name }
    }

    /// The value of an option that may be given once.
    func value(of name: OptionName) -> String? {
        options.first { $0.name == name }?.value
    }

    /// All values of a repeatable option, in their order.
    func values(of name: OptionName) -> [String] {
        options.filter { $0.name == name }.compactMap(\.value)
    }
}
