import Vault

enum UnlockCommand: Command {
    static let description = CommandDescription(
        name: .unlock, section: .keys, summary: "open the vault without prompts for a limited time",
        options: [
            .init(
                name: .timeout, value: "TIME",
                help: "The time in seconds, or a number with s, m, h or d (default: 15m)."),
            .init(name: .session, help: "Only for processes of this login session, not for all of yours."),
        ],
        details: """
            Stores the secret of the key that opens the vault in kernel memory until the time has passed, `vault lock` \
            is run, or the machine restarts. Until then, any of your programs can open the vault. No background \
            process is needed.

            Most containers forbid this. The vault then still prompts each time, and this command gives the reason.
            """,
        examples: [.init("vault unlock --timeout 8h", "unlock for a working day")],
        exitCodes: [.init(.inputOutput, "the kernel refuses to store the secret; the vault prompts each time")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let time = try invocation.duration(of: .timeout) ?? .seconds(900)
        let keychain = try TerminalTurn.untilEnd {
            let keychain = try invocation.openVault()
            try keychain.vaultKeys.unlock(for: time, onlyInThisSession: invocation.has(.session))
            return keychain
        }
        let seconds = Int(clamping: time.components.seconds)
        return try invocation.finish(json: ["vault": keychain.location.vault, "seconds": seconds])
    }
}

enum LockCommand: Command {
    static let description = CommandDescription(
        name: .lock, section: .keys, summary: "undo `vault unlock`",
        details: """
            Locking a vault that is not unlocked is not an error.

            If the vault file is missing or cannot be read, its key is unknown, so all vaults are locked.
            """)

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let location = try invocation.location()
        let (wasUnlocked, isOfAll) = try Keychain.VaultKeys.lockAll(at: location)
        if isOfAll, !invocation.wantsJSON {
            Notes.inform("No readable vault at \(location.vault), so all vaults were locked.")
        }
        return try invocation.finish(
            json: ["vault": location.vault, "was_unlocked": wasUnlocked, "locked_all": isOfAll])
    }
}
