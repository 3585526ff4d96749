import Vault

enum PickCommand: Command {
    static let description = CommandDescription(
        name: .pick, summary: "choose an entry by typing parts of its name",
        options: [
            .init(name: .copy, help: "Copy the value to the clipboard, as `vault copy` (default at a terminal)."),
            .init(name: .print, help: "Write the value, as `vault get` (default if standard output is no terminal)."),
            .init(name: .show, help: "Write all but the value: attributes, times, size and kind."),
            .init(name: .name, help: "Write the name."),
            .init(
                name: .with, value: "PROGRAM",
                help: "Let this program choose, run by the shell: fzf, rofi, 'wofi --dmenu' or one like them."),
            ClipboardCommand.clearAfterOption,
        ],
        details: [
            """
            Words match parts of names, and of the values of attributes, with gaps: `wgh` finds web/github.com. Arrows \
            or Ctrl-P and Ctrl-N move, Enter takes, Esc or Ctrl-C leaves. The list is below the cursor, and disappears.
            """,
            """
            A program gets the names, one per line, and writes one of them. It gets no values and no attributes.
            """,
        ],
        examples: [
            .init("vault pick", "choose, and copy the password"),
            .init("vault pick --with fzf --print | program", "hand a value on"),
            .init("vault pick --with rofi --copy", "from a key of the desktop"),
        ],
        exitCodes: [
            .init(.notFound, "the vault is empty"),
            .init(.refused, "nothing was chosen, or there is no terminal"),
        ])

    private enum Use: CaseIterable {
        case copy, print, show, name

        var option: OptionName {
            switch self {
            case .copy: .copy
            case .print: .print
            case .show: .show
            case .name: .name
            }
        }
    }

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let uses = Use.allCases.filter { invocation.has($0.option) }
        guard uses.count <= 1 else { throw UsageError.oneUse }
        let use = uses.first ?? (StandardOutput.isTerminal ? .copy : .print)
        guard use == .copy || !invocation.has(.clearAfter) else { throw UsageError.onlyWith(.clearAfter, "--copy") }
        let seconds = try ClipboardCommand.clearingTime(invocation)
        let keychain = try invocation.openVault()
        let name = try choose(in: keychain, with: invocation.value(of: .with))
        switch use {
        case .name:
            return try invocation.finish(json: ["name": name], text: { StandardOutput.shown(name) + "\n" })
        case .show: return try ShowCommand.show(name, in: keychain, invocation)
        case .print: return try invocation.finish(value(of: name, in: keychain, invocation), of: name)
        case .copy:
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

    /// It may have been removed while the person was choosing.
    private static func value(
        of name: String, in keychain: Keychain, _ invocation: Invocation
    ) throws -> SealableValue {
        guard let value = try invocation.readingEntry(name, from: keychain) else { throw keychain.absent(name) }
        return value
    }
}
