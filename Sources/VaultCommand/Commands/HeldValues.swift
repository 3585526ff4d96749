import LinuxSystem
import Sealing
import Vault

/// The values that a command hands to other programs: only those that were asked for, and all of them or none.
struct HeldValues {
    /// Two spellings of a character are two names.
    private let values: [ExactText: HeldValue]

    /// Opens the vault for as long as the values are read; not at all if there are no names.
    ///
    /// - Parameter describe: makes the error for a missing name from that which `get` has.
    init(
        of names: [String], _ invocation: Invocation,
        describe: (CommandError, String) -> CommandError = { error, _ in error }
    ) throws {
        // Takes the key that --key-fd gives away from the other program, also if it is not needed.
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
    /// In the order in which they were first named. What is named later takes the place of the value.
    private(set) var list: [(name: String, value: HeldValue)] = []

    /// Reads the values of the requests, of which the last for a variable counts.
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
