import SealedLog
import Vault

enum BackupCommand: Command {
    static let description = CommandDescription(
        name: .backup, section: .copies, summary: "copy the vault to another file, and verify the copy",
        arguments: [.init(name: "FILE", completion: .file, help: "The path of the copy. It must not exist.")],
        options: [.init(name: .force, short: "f", help: "Replace an earlier copy of this vault.")],
        details: [
            """
            The copy is a snapshot of the vault; other processes may keep writing. It is read and authenticated in \
            full before it gets its name. The same keys open it: keep the backup of the key file elsewhere.
            """,
            """
            With --force, FILE is replaced only if it is an earlier copy of this vault and the new copy contains \
            everything in it. Any other file is left alone: merge it (`vault help merge`), or move it away.
            """,
        ],
        examples: [.init("vault backup /media/usb/default.vault", "copy to another disk")],
        exitCodes: [.init(.refused, "FILE exists, or has entries that the copy would lack; it is left alone")])

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
