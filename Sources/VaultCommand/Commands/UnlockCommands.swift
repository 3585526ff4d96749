import Vault

enum UnlockCommand: Command {
    static let description = CommandDescription(
        name: .unlock, summary: "open the vault without asking, for a while",
        options: [
            .init(
                name: .timeout, value: "TIME",
                help: "For how long: seconds, or a number with s, m, h or d (default: 15m)."),
            .init(name: .session, help: "Only for this login, not for all of the user's processes."),
        ],
        details: [
            """
            Leaves the secret of the key that opens the vault in the kernel's memory until the time is over, `vault \
            lock` or a restart. No program stays running. Meanwhile every program of this user can open the vault.
            """,
            """
            Most containers refuse that; the vault then asks each time, and this command says why.
            """,
        ],
        examples: [.init("vault unlock --timeout 8h", "for a working day")],
        exitCodes: [.init(.inputOutput, "the system has no memory for this; the vault asks each time")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let time = try invocation.duration(of: .timeout) ?? .seconds(900)
        let keychain = try TerminalTurn.untilEnd {
            let keychain = try invocation.openVault()
            try keychain.unlock(for: time, onlyInThisSession: invocation.has(.session))
            return keychain
        }
        let seconds = Int(clamping: time.components.seconds)
        return try invocation.finish(json: ["vault": keychain.location.vault, "seconds": seconds])
    }
}

enum LockCommand: Command {
    static let description = CommandDescription(
        name: .lock, summary: "end what `vault unlock` has begun",
        details: [
            "A vault that was not unlocked is no error.",
            "If the vault file is gone or cannot be read, nothing tells which key is its own: all vaults are locked.",
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let location = try invocation.location()
        let (wasUnlocked, isOfAll) = try Keychain.lockAll(at: location)
        if isOfAll, !invocation.wantsJSON {
            Notes.tell("There is no vault to read at \(location.vault), so all vaults were locked.")
        }
        return try invocation.finish(
            json: ["vault": location.vault, "was_unlocked": wasUnlocked, "locked_all": isOfAll])
    }
}
