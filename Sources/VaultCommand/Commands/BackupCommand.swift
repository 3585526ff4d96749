import SealedLog
import Vault

enum BackupCommand: Command {
    static let description = CommandDescription(
        name: .backup, summary: "copy the vault to another file, and verify the copy",
        arguments: [.init(name: "FILE", completion: .file, help: "The file of the copy. It must not exist.")],
        options: [.init(name: .force, short: "f", help: "Replace FILE if it exists.")],
        details: [
            """
            The copy is the vault as it is at one moment; others may go on writing. It is read and authenticated in \
            full before it gets its name. The same keys open it: keep the backup of the key file elsewhere.
            """
        ],
        examples: [.init("vault backup /media/usb/default.vault", "onto another disk")],
        exitCodes: [.init(.refused, "FILE exists; it is left alone")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        let found = try invocation.withProgress("Backing up") { progress in
            try keychain.backUp(to: invocation.name, replacing: invocation.has(.force), progress: progress)
        }
        return try invocation.finish(json: ["vault": invocation.name, "entries": found.entries, "bytes": found.bytes]) {
            let entries = Quantity.entries(found.entries)
            return "Copied to \(StandardOutput.shown(invocation.name)) and verified: \(entries).\n"
        }
    }
}
