import SealedLog
import Vault

enum BackupCommand: Command {
    static let description = CommandDescription(
        name: .backup, section: .copies, summary: "copy the vault to another file, and verify the copy",
        arguments: [.init(name: "FILE", completion: .file, help: "The path of the copy. It must not exist.")],
        options: [.init(name: .force, short: "f", help: "Replace an earlier copy of this vault.")],
        details: """
            The copy is a snapshot of the vault; other processes may keep writing. It is read and authenticated in \
            full before it appears as FILE. The same keys open it, so keep the key file's backup elsewhere.

            With --force, FILE is replaced only if it is an earlier copy of this vault and the new copy contains \
            everything in it. Any other file is left alone: merge it (`vault help merge`), or move it away.
            """,
        examples: [.init("vault backup /media/usb/default.vault", "copy to another disk")],
        exitCodes: [.init(.refused, "FILE exists or, with --force, has entries that the copy lacks; it is left alone")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try copy(invocation.openVault(), to: invocation.name, "Backing up", invocation)
    }

    /// - Parameter title: the title of the progress display.
    static func copy(
        _ keychain: Keychain, to target: String, _ title: String, _ invocation: Invocation
    ) throws -> ExitCode {
        let found = try invocation.withProgress(title) { progress in
            try keychain.copies.backUp(to: target, replacing: invocation.has(.force), progress: progress)
        }
        return try invocation.finish(json: ["vault": target, "entries": found.entries, "bytes": found.bytes]) {
            "Copied to \(StandardOutput.shown(target)) and verified: \(Quantity.entries(found.entries)).\n"
        }
    }
}

enum CloneCommand: Command {
    static let description = CommandDescription(
        name: .clone, section: .copies, summary: "copy a vault between files and databases",
        arguments: [
            .init(name: "FROM", completion: .file, help: "The file or URL of the vault."),
            .init(name: "TO", completion: .file, help: "The file or URL of the copy. It must not exist."),
        ],
        options: [.init(name: .force, short: "f", help: "Replace an earlier copy of this vault at TO.")],
        details: """
            Both are the same vault. The same keys open them, and a machine that remembers either accepts the other. \
            The copy is read and authenticated in full before it appears at TO. In a database, the copy is bound to \
            its name, so a server cannot present it under another name.

            If a server was reset to an older state, restore its vault from the local copy on any machine: `vault \
            clone --offline URL URL --force`. `vault info` shows the path of the local copy.

            With --force, TO is replaced only if the copy contains everything in it. Otherwise merge the two: see \
            `vault help merge`. If TO is a different vault or a file that does not open, move it away first.
            """,
        examples: [
            .init("vault clone team.vault postgresql://db.example.org/vaults#team", "move a file into a database"),
            .init("vault clone postgresql://db.example.org/vaults#team team.vault", "back it up to a file"),
        ],
        exitCodes: [.init(.refused, "TO exists or, with --force, has entries that the copy lacks; it is left alone")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let source = invocation.arguments[0]
        let target = invocation.arguments[1]
        return try BackupCommand.copy(invocation.openVault(at: source), to: target, "Copying", invocation)
    }
}
