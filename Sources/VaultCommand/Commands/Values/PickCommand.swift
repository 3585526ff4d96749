import Vault

enum PickCommand: Command {
    static let description = CommandDescription(
        name: .pick, section: .values, changesNothing: true, summary: "choose an entry by typing parts of its name",
        options: [
            .init(name: .copy, help: "Copy the value to the clipboard, like `vault copy` (default at a terminal)."),
            .init(name: .print, help: "Write the value, like `vault get` (default without a terminal)."),
            .init(name: .show, help: "Write everything but the value: attributes, times, size and kind."),
            .init(name: .name, help: "Write the name."),
            .init(
                name: .with, value: "PROGRAM",
                help: "Choose with this shell command: fzf, rofi, 'wofi --dmenu' or a similar one."),
            ClipboardCommand.clearAfterOption,
        ],
        details: """
            Typed words match names and attribute values, and may skip characters: `wgh` finds web/github.com. Arrows \
            or Ctrl-P and Ctrl-N move, Enter chooses, Esc or Ctrl-C cancels. The list appears below the cursor, and \
            disappears afterwards.

            The program given by --with gets the names, one per line, and prints one of them. It gets no values and no \
            attributes.
            """,
        examples: [
            .init("vault pick", "choose an entry, and copy its password"),
            .init("vault pick --with fzf --print | program", "choose an entry, and pass its value to a program"),
            .init("vault pick --with rofi --copy", "choose from a desktop shortcut"),
        ],
        exitCodes: [
            .init(.notFound, "the vault is empty"),
            .init(.refused, "nothing was chosen, or no terminal is available"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let uses = [OptionName.copy, .print, .show, .name].filter(invocation.has)
        guard uses.count <= 1 else { throw UsageError.oneUse }
        let use = uses.first ?? (StandardOutput.isTerminal ? .copy : .print)
        guard use == .copy || !invocation.has(.clearAfter) else { throw UsageError.onlyWith(.clearAfter, "--copy") }
        let seconds = try ClipboardCommand.clearingTime(invocation)
        let keychain = try invocation.openVault()
        let name = try choose(in: keychain, with: invocation.value(of: .with))
        switch use {
        case .name: return try invocation.finish(json: ["name": name], text: { StandardOutput.shown(name) + "\n" })
        case .show: return try ShowCommand.show(name, in: keychain, invocation)
        case .print: return try invocation.finish(value(of: name, in: keychain, invocation), of: name)
        default:
            let value = try ValueText.shown(value(of: name, in: keychain, invocation), of: name)
            return try ClipboardCommand.copy(value, of: name, to: nil, clearedAfter: seconds, invocation)
        }
    }

    private static func choose(in keychain: Keychain, with program: String?) throws -> String {
        var candidates: [PickList.Candidate] = []
        var listing = try keychain.listing()
        while let item = try listing.next() {
            let attributes = item.attributes.sorted { $0.key < $1.key }.map(\.value)
            candidates.append(.init(name: item.name, attributes: attributes))
        }
        guard !candidates.isEmpty else {
            throw CommandError(code: "absent", exit: .notFound, message: "The vault has no entries.")
        }
        guard let program else { return try TerminalPicker.choose(from: candidates) }
        return try ProgramPicker.choose(from: candidates.map(\.name), with: program)
    }

    /// Reads the chosen value. Throws if another process has removed its entry in the meantime.
    private static func value(
        of name: String, in keychain: Keychain, _ invocation: Invocation
    ) throws -> SealableValue {
        guard let value = try invocation.readingEntry(name, from: keychain) else { throw keychain.absent(name) }
        return value
    }
}
