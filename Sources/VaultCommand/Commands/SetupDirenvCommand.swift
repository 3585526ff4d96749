import Formats
import Vault

enum SetupDirenvCommand: Command {
    static let description = CommandDescription(
        name: .setupDirenv, summary: "let direnv take variables from the vault",
        options: [.dryRun, .undo],
        details: [
            """
            Adds the function `use_vault` to direnv/direnvrc in $XDG_CONFIG_HOME (default: ~/.config). Its other lines \
            stay as they are. A file .envrc then says `use vault`, and what follows is as for `vault env`.
            """,
            """
            If a value is missing, that is reported and no variable is set. direnv goes on after a failure, unless \
            .envrc begins with `strict_env`.
            """,
            "With --vault or --key-file, the function uses this vault and key.",
        ],
        examples: [
            .init("vault setup direnv", "then, in a file .envrc: use vault GH_TOKEN=gh/token"),
            .init("vault setup direnv --undo", "no longer"),
        ],
        exitCodes: [.init(.refused, "the file has another function of this name")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let words = (["env"] + (try invocation.handedOn())).map { OtherProgram.line([$0]) }
        let function = [
            "# Variables from the vault, in .envrc: use vault NAME=ENTRY",
            "use_vault() {",
            "  local variables",
            // Assigned first: of a failure inside of an eval, a shell knows nothing.
            "  variables=$(vault \(words.joined(separator: " ")) \"$@\") || return",
            "  eval \"$variables\"",
            "}",
        ]
        let file = try EditedFile(OtherProgram.path(".config", orIn: "XDG_CONFIG_HOME") + "/direnv/direnvrc")
        let lines = Lines(file.contents)
        let place = lines.place(of: function)
        return try invocation.finish(
            Setting(
                lines: ["# \(file.path)"] + function,
                write: {
                    guard place == nil else { return }
                    guard !lines.contain("use_vault") else {
                        throw CommandError.refused("\(file.path) has another function use_vault. Remove it first.")
                    }
                    try file.write(lines.adding(function))
                },
                undo: { if let place { try file.write(lines.removing(place)) } }))
    }
}

/// The lines of a file, as bytes: what another program's file holds need not be UTF-8.
private struct Lines {
    private let lines: [ArraySlice<UInt8>]

    init(_ bytes: [UInt8]) {
        let ended = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
        lines = bytes.isEmpty ? [] : ended.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    func contain(_ word: String) -> Bool {
        lines.contains { String(decoding: $0, as: UTF8.self).contains(word) }
    }

    func place(of wanted: [String]) -> Range<Int>? {
        let wanted = wanted.map { Array($0.utf8)[...] }
        let start = lines.indices.first { lines[$0...].starts(with: wanted) }
        return start.map { $0..<$0 + wanted.count }
    }

    func adding(_ new: [String]) -> [UInt8] { Lines.joined(lines + new.map { Array($0.utf8)[...] }) }

    func removing(_ place: Range<Int>) -> [UInt8] {
        Lines.joined(Array(lines[..<place.lowerBound] + lines[place.upperBound...]))
    }

    private static func joined(_ lines: [ArraySlice<UInt8>]) -> [UInt8] { lines.flatMap { $0 + [UInt8(ascii: "\n")] } }
}
