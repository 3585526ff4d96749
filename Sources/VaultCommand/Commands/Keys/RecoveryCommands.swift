import Glibc
import LinuxSystem
import Vault

enum KeyShowCommand: Command {
    static let description = CommandDescription(
        name: .keyShow, section: .keys, summary: "show the key file's contents, for a backup on paper",
        options: [.init(name: .noQR, help: "Leave out the QR code.")],
        details: """
            Shows the secret itself. Anyone who sees it can open the vault. At a terminal, also shows a QR code of the \
            line with the key. To restore the key file, type or scan that line into a file; typing mistakes are \
            detected.
            """,
        exitCodes: [
            .init(.usage, "the key file was not generated; copy the file itself"),
            .init(.locked, "the key file cannot be read, or does not open the vault"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        try invocation.checkThatKeyFileOpensVault()
        let text = try Keychain.VaultKeys.keyFileText(at: invocation.location(), options: invocation.vaultOptions())
        if invocation.wantsJSON {
            try ValueForm.json(text, name: "key").withUnsafeBytes(StandardOutput.write)
            try StandardOutput.write("\n")
            return .success
        }
        try text.withUnsafeBytes(StandardOutput.write)
        guard StandardOutput.isTerminal, !invocation.has(.noQR) else { return .success }
        // The QR code contains only the key's line, without the comment line before it.
        let code = try text.withUnsafeBytes { text in
            let start = text.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            return try QRCode(UnsafeRawBufferPointer(rebasing: text[start...].dropLast()).bytes)
        }
        guard code.width <= terminalWidth(1) ?? 80 else {
            Notes.inform("The terminal is too narrow for the QR code, which needs \(code.width) columns.")
            return .success
        }
        try code.rendered(colored: EscapeSequences.areObeyed).withUnsafeBytes(StandardOutput.write)
        return .success
    }
}

enum KeySplitCommand: Command {
    static let description = CommandDescription(
        name: .keySplit, section: .keys, summary: "split the key file into shares, a few of which restore it",
        arguments: [
            .init(name: "K", help: "The number of shares that restore the key file, at least 2."),
            .init(name: "of", help: "The word `of`."),
            .init(name: "N", help: "The number of shares to create, at most 32."),
        ],
        details: """
            Give each share to a different person or keep it in a different place. Fewer than K shares reveal nothing \
            about the key. The key file is left unchanged.
            """,
        examples: [.init("vault key split 3 of 5 > shares.txt", "create five shares, any three of which are enough")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        guard invocation.arguments[1] == "of" else { throw UsageError.badSplit }
        let threshold = try invocation.number(invocation.arguments[0], "K")
        let count = try invocation.number(invocation.arguments[2], "N")
        try invocation.checkThatKeyFileOpensVault()
        let shares = try Keychain.VaultKeys.splitKeyFile(
            at: invocation.location(), into: count, threshold: threshold, options: invocation.vaultOptions())
        guard invocation.wantsJSON else {
            for index in 1...shares.count { try shares.text(at: index).withUnsafeBytes(StandardOutput.write) }
            return .success
        }
        // All shares together reveal the key, so they are written one at a time, from guarded memory.
        for index in 1...shares.count {
            try StandardOutput.write(index == 1 ? #"{"shares":[""# : #"",""#)
            try shares.text(at: index).withUnsafeBytes { text in
                try SecretBytes(composing: { Escaping.json(text, $0) }).withUnsafeBytes(StandardOutput.write)
            }
        }
        try StandardOutput.write("\"]}\n")
        return .success
    }
}

enum KeyJoinCommand: Command {
    static let description = CommandDescription(
        name: .keyJoin, section: .keys, summary: "restore a key file from shares",
        arguments: [.init(name: "PATH", completion: .file, help: "The path of the new key file. It must not exist.")],
        options: [
            .init(
                name: .file, value: "SHARES", completion: .file,
                help: "A file with the shares, in any order (default: standard input).")
        ],
        details: "At a terminal, paste or type the shares, then press Ctrl-D on a new line.",
        examples: [
            .init("cat share1 share3 share4 | vault key join ./restored.key", "then `vault key check ./restored.key`")
        ],
        exitCodes: [
            .init(.usage, "a share is mistyped or from another set, or there are too few"),
            .init(.refused, "PATH already exists; it is left alone"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let path = invocation.value(of: .file)
        let text = if let path { try ValueInput.readFile(at: path) } else { try ValueInput.readShares() }
        try Keychain.VaultKeys.joinKeyFile(text, to: invocation.name)
        return try invocation.finish(json: ["key_file": invocation.name]) {
            "Restored the key file \(StandardOutput.shown(invocation.name)). Check it with "
                + "`\(AdvisedCommand(invocation).line("key check \(AdvisedCommand.path(invocation.name))"))`.\n"
        }
    }
}

extension Invocation {
    /// Throws if the key file does not open the vault, because a backup of that file would be useless.
    fileprivate func checkThatKeyFileOpensVault() throws {
        var options = try vaultOptions()
        options.triesKeyFileAlone = true
        do { _ = try Keychain(at: location(), options: options) } catch let error as VaultError {
            // If opening fails for any reason but the key, such as a missing vault, the key file can be backed up.
            if try error.code == .locked || Glibc.access(location().keyFile, F_OK) != 0 { throw error }
        }
    }
}
