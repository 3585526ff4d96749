import SealedLog
import Vault

enum BackupCommand: Command {
    static let description = CommandDescription(
        name: .backup, summary: "copy the vault to another file, and verify the copy",
        arguments: [.init(name: "FILE", completion: .file, help: "The file of the copy. It must not exist.")],
        options: [.init(name: .force, short: "f", help: "Replace an earlier copy of this vault.")],
        details: [
            """
            The copy is the vault as it is at one moment; others may go on writing. It is read and authenticated in \
            full before it gets its name. The same keys open it: keep the backup of the key file elsewhere.
            """,
            """
            With --force, FILE is replaced only if it is an earlier copy of this vault, and the new one has all that is \
            in it. Any other file is left alone: merge it (`vault help merge`), or move it away.
            """,
        ],
        examples: [.init("vault backup /media/usb/default.vault", "onto another disk")],
        exitCodes: [.init(.refused, "FILE exists, or the copy would lack some of it; it is left alone")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try copy(invocation.openVault(), to: invocation.name, "Backing up", invocation)
    }

    /// - Parameter title: of the progress.
    static func copy(
        _ keychain: Keychain, to target: String, _ title: String, _ invocation: Invocation
    ) throws -> ExitCode {
        let found = try invocation.withProgress(title) { progress in
            try keychain.backUp(to: target, replacing: invocation.has(.force), progress: progress)
        }
        return try invocation.finish(json: ["vault": target, "entries": found.entries, "bytes": found.bytes]) {
            "Copied to \(StandardOutput.shown(target)) and verified: \(Quantity.entries(found.entries)).\n"
        }
    }
}
