import Vault

enum ClipboardCommand: Command {
    static let description = CommandDescription(
        name: .clipboard, section: .values, changesNothing: true,
        summary: "copy a value to the clipboard for a limited time",
        arguments: [
            .init(name: "NAME", completion: .secretName, help: "The name, or NAME.FIELD for one of its attributes.")
        ],
        options: [
            clearAfterOption,
            .init(
                name: .with, value: "TOOL", choices: Clipboard.allCases.map(\.rawValue),
                help: "wl-copy, xclip, xsel or osc52 (default: the first of these that works)."),
        ],
        details: """
            Uses wl-copy if WAYLAND_DISPLAY is set, xclip or xsel if DISPLAY is set, and otherwise the terminal itself \
            by the control sequence OSC 52, which also works over ssh. Inside tmux, this requires `set -g \
            set-clipboard on`. The value must be text; for OSC 52, at most 74,994 bytes.

            The clipboard is cleared after 45 seconds, unless its contents have changed. A terminal's clipboard cannot \
            be read, so it is cleared in any case.

            Clipboard managers may keep copied text. wl-copy 2.3 and later ask them not to; earlier versions, xclip \
            and xsel cannot. tmux keeps text that is copied through it in its buffers: see `tmux list-buffers`. \
            wl-copy briefly stores the value in a temporary file: in $XDG_RUNTIME_DIR, or with versions before 2.3 in \
            /tmp.
            """,
        examples: [
            .init("vault copy web/github.com", "copy the password for 45 seconds"),
            .init("vault copy web/github.com.username", "copy an attribute"),
            .init("vault copy wifi --clear-after 5m", "copy it for 5 minutes"),
        ],
        exitCodes: [
            .init(.notFound, "no such name; a similar one is suggested"),
            .init(.refused, "the value is not text, or too long for the terminal"),
            .init(.inputOutput, "there is no clipboard"),
        ])

    static let clearAfterOption = OptionDescription(
        name: .clearAfter, value: "TIME",
        help: "Clear it after this time, such as 90, 30s or 5m (default: 45s). 0 keeps it.")

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let seconds = try clearingTime(invocation)
        let keychain = try invocation.openVault()
        guard let stored = try invocation.reading(invocation.name, from: keychain) else {
            throw keychain.absent(invocation.name)
        }
        let tool = invocation.value(of: .with).flatMap(Clipboard.init)
        let value = try ValueText.shown(stored, of: invocation.name)
        return try copy(value, of: invocation.name, to: tool, clearedAfter: seconds, invocation)
    }

    /// Returns the number of seconds after which the clipboard is cleared; nil if it is not cleared.
    static func clearingTime(_ invocation: Invocation) throws -> Int? {
        if invocation.value(of: .clearAfter) == "0" { return nil }
        return Int(try invocation.duration(of: .clearAfter)?.components.seconds ?? 45)
    }

    /// Copies a value, then writes the command's result.
    ///
    /// - Parameter tool: the tool to use; nil for the first that works.
    static func copy(
        _ value: borrowing SecretBytes, of name: String, to tool: Clipboard?, clearedAfter seconds: Int?,
        _ invocation: Invocation
    ) throws -> ExitCode {
        guard value.withUnsafeBytes({ $0.isUTF8 && !$0.contains(0) }) else {
            throw CommandError.refused("The value of \"\(name)\" is not text. Pipe the output of `vault get` instead.")
        }
        let candidates = tool.map { [$0] } ?? Clipboard.candidates
        guard let used = try candidates.first(where: { try $0.copy(value, clearedAfter: seconds) }) else {
            throw noClipboard(tool)
        }
        if !invocation.wantsJSON { Notes.inform(message(used, seconds)) }
        return try invocation.finish(json: report(name, used, seconds))
    }

    private static func report(_ name: String, _ used: Clipboard, _ seconds: Int?) -> JSONObject {
        ["name": name, "tool": used.rawValue, "clear_after": seconds]
    }

    private static func message(_ used: Clipboard, _ seconds: Int?) -> String {
        let copied = used == .terminal ? "Copied through the terminal, if it allows that" : "Copied"
        guard let seconds else { return copied + "; the clipboard will not be cleared." }
        let condition = used == .terminal ? ", whatever it contains" : ""
        return "\(copied); the clipboard will be cleared in \(seconds) s\(condition)."
    }

    private static func noClipboard(_ tool: Clipboard?) -> CommandError {
        let problem =
            switch tool {
            case nil: "No clipboard found. Install wl-clipboard (Wayland) or xclip (X11), or run this at a terminal."
            case .terminal: "No terminal found."
            case let tool?: "\(tool.rawValue) is not installed, or cannot connect to a display."
            }
        return .unavailable(problem)
    }
}
