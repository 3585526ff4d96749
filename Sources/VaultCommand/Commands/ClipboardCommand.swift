import Sealing
import Vault

enum ClipboardCommand: Command {
    static let description = CommandDescription(
        name: .clipboard, summary: "copy a value to the clipboard, for a while",
        arguments: [
            .init(name: "NAME", completion: .secretName, help: "The name, or NAME.FIELD for an attribute of it.")
        ],
        options: [
            clearAfterOption,
            .init(
                name: .with, value: "TOOL", choices: Clipboard.allCases.map(\.rawValue),
                help: "wl-copy, xclip, xsel or osc52 (default: the first of these that works)."),
        ],
        details: [
            """
            wl-copy is used if WAYLAND_DISPLAY is set, xclip or xsel if DISPLAY is, and else the terminal itself by \
            the sequence OSC 52, also over ssh. Inside tmux that needs `set -g set-clipboard on`. The value must be \
            text; for OSC 52, of at most 74,994 bytes.
            """,
            """
            After 45 seconds the clipboard is cleared, unless it has something else by then. The clipboard of a \
            terminal cannot be read: it is cleared whatever it has.
            """,
            """
            Clipboard managers may keep what was copied. wl-copy 2.3 and later ask them not to; earlier ones, xclip \
            and xsel cannot. tmux keeps what is copied through it in its buffers: see `tmux list-buffers`. For a \
            moment wl-copy has the value in a temporary file: in $XDG_RUNTIME_DIR, versions before 2.3 in /tmp.
            """,
        ],
        examples: [
            .init("vault copy web/github.com", "the password, for 45 seconds"),
            .init("vault copy web/github.com.username", "an attribute"),
            .init("vault copy wifi --clear-after 5m", "for longer"),
        ],
        exitCodes: [
            .init(.notFound, "no such name; a similar one is suggested"),
            .init(.refused, "the value is not text, or too long for the terminal"),
            .init(.inputOutput, "there is no clipboard"),
        ])

    static let clearAfterOption = OptionDescription(
        name: .clearAfter, value: "TIME", help: "When to clear it, such as 90, 30s or 5m (default: 45s). 0 never does.")

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

    /// Returns seconds; nil for never.
    static func clearingTime(_ invocation: Invocation) throws -> Int? {
        if invocation.value(of: .clearAfter) == "0" { return nil }
        return Int(try invocation.duration(of: .clearAfter)?.components.seconds ?? 45)
    }

    /// Copies a value, and ends the command.
    ///
    /// - Parameter tool: nil for the first that works.
    static func copy(
        _ value: borrowing SecretBytes, of name: String, to tool: Clipboard?, clearedAfter seconds: Int?,
        _ invocation: Invocation
    ) throws -> ExitCode {
        guard value.withUnsafeBytes({ $0.isUTF8 && !$0.contains(0) }) else {
            throw CommandError.refused("The value of \"\(name)\" is not text. Use `vault get` in a pipe.")
        }
        let candidates = tool.map { [$0] } ?? Clipboard.candidates
        guard let used = try candidates.first(where: { try $0.copy(value, clearedAfter: seconds) }) else {
            throw noClipboard(tool)
        }
        if !invocation.wantsJSON { Notes.tell(message(used, seconds)) }
        return try invocation.finish(json: report(name, used, seconds))
    }

    private static func report(_ name: String, _ used: Clipboard, _ seconds: Int?) -> JSONObject {
        ["name": name, "tool": used.rawValue, "clear_after": seconds]
    }

    private static func message(_ used: Clipboard, _ seconds: Int?) -> String {
        let copied = used == .terminal ? "Copied by the terminal, if it allows that" : "Copied"
        guard let seconds else { return copied + "; it is not cleared." }
        return "\(copied); cleared in \(seconds) s" + (used == .terminal ? ", whatever it has then." : ".")
    }

    private static func noClipboard(_ tool: Clipboard?) -> CommandError {
        let problem =
            switch tool {
            case nil:
                "There is no clipboard. Install wl-clipboard for Wayland or xclip for X11, or run it at a terminal."
            case .terminal: "There is no terminal."
            case let tool?: "\(tool.rawValue) is not installed, or has no display that it can use."
            }
        return CommandError(code: "unavailable", exit: .inputOutput, message: problem)
    }
}
