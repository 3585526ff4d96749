import LinuxSystem
import Sealing
import Vault

/// The values that a command passes to other programs: only those that were requested, and all of them or none.
struct HeldValues {
    /// The values by exact name: two spellings of a character are two names.
    private let values: [ExactText: HeldValue]

    /// Reads the values and closes the vault again. If there are no names, does not open it.
    ///
    /// - Parameter describe: creates the error for a missing name from the error that `get` has.
    init(
        of names: [String], _ invocation: Invocation,
        describe: (CommandError, String) -> CommandError = { error, _ in error }
    ) throws {
        // This hides the key of --key-fd from the other program, even if no value is needed.
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

/// The variables that another program gets.
struct Variables {
    /// The variables in the order of their first occurrence. A later value for a variable replaces the earlier one.
    private(set) var list: [(name: String, value: HeldValue)] = []

    /// Takes the values of the requests. The last request for a variable wins.
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
