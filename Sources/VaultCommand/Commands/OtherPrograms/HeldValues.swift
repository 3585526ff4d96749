import LinuxSystem
import Vault

/// The values that a command passes to other programs. Only the requested values are read, and each must exist.
struct HeldValues {
    /// The values, keyed by the exact bytes of their names, so that two spellings of an accented letter are distinct.
    private let values: [ExactText: HeldValue]

    /// Reads the values, then closes the vault. Does not open the vault if no names are requested.
    ///
    /// - Parameter describe: converts the error of `vault get` for a missing name into this command's error.
    init(
        of names: [String], _ invocation: Invocation,
        describe: (CommandError, String) -> CommandError = { error, _ in error }
    ) throws {
        // This call marks the descriptor of --key-fd as close-on-exec, so that the other program cannot use it.
        _ = try invocation.vaultOptions()
        guard !names.isEmpty else {
            values = [:]
            return
        }
        let keychain = try invocation.openVault()
        let program = invocation.command == .run ? invocation.arguments.first : nil
        var values: [ExactText: HeldValue] = [:]
        var missing: [CommandError] = []
        for name in names where values[ExactText(name)] == nil {
            if let stored = try invocation.reading(name, from: keychain, starting: program) {
                values[ExactText(name)] = HeldValue("The value of \"\(name)\"", try ValueText.shown(stored, of: name))
            } else {
                missing.append(describe(keychain.absent(name), name))
            }
        }
        if var error = missing.first {
            error.message = missing.map(\.message).joined(separator: " ")
            throw error
        }
        self.values = values
    }

    subscript(name: String) -> HeldValue? { values[ExactText(name)] }
}

/// The environment variables that are passed to another program.
struct Variables {
    /// The variables in order of first occurrence. A variable's later value replaces its earlier one.
    private(set) var list: [(name: String, value: HeldValue)] = []

    /// Creates the variables from the requested values. The last request for a variable wins.
    init(_ requests: [VariableRequest], from values: HeldValues) throws {
        for request in requests {
            let value: HeldValue?
            switch request.source {
            case .entry(let entry): value = values[entry]
            case .plain(let plain): value = plain
            }
            guard let value else { continue }
            try value.checkForText("a variable")
            set(request.name, to: value)
        }
    }

    mutating func set(_ name: String, to value: HeldValue) {
        if let index = list.firstIndex(where: { $0.name == name }) {
            list[index].value = value
        } else {
            list.append((name, value))
        }
    }
}
