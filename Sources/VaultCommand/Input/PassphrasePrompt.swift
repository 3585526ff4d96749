import Sealing
import Vault

/// Asks for passphrases at the terminal.
enum PassphrasePrompt {
    /// nil without a terminal, or where other programs have it.
    ///
    /// - Parameter isAnswered: looks, once others have asked before, whether there is still something to ask; if not,
    ///   this is nil too.
    static func ask(
        _ prompt: String, unless isAnswered: () -> Bool = { false }
    ) throws(VaultError) -> SecretBytes? {
        guard let terminal = try? PromptTerminal.open() else { return nil }
        if terminal.hasWaited, isAnswered() { return nil }
        do { return try ValueInput.readLine(prompt, terminal) } catch {
            let error = CommandError(error)
            if error == PromptTerminal.isInBackground { return nil }
            guard error.exit == .refused else { throw VaultError(.unavailable, error.message) }
            throw VaultError(.locked, "Cancelled; the vault stays locked.")
        }
    }

    /// Asks for a new passphrase, twice.
    ///
    /// - Throws: ``CommandError``: refused if the two inputs differ, if it is cancelled, or without a terminal.
    static func askForNew() throws -> SecretBytes {
        let first = try ValueInput.askTwice(
            "New passphrase (not shown): ", "Repeat the passphrase: ", consequence: "no key was added")
        guard first.count > 0 else { throw CommandError.invalid("The passphrase is empty; no key was added.") }
        if first.count < 12 {
            StandardError.write("vault: warning: This passphrase is short. Five random words are a good one.\n")
        }
        return first
    }
}

/// Asks for the passphrase of a vault at the terminal.
struct TerminalPassphrasePrompter: PassphrasePrompter {
    /// How often a person may try.
    private static let attempts = 3

    /// The vault's location, for the prompt.
    let vault: String

    func ask(attempt: Int, unless isUnlocked: () -> Bool) throws(VaultError) -> SecretBytes? {
        guard attempt <= TerminalPassphrasePrompter.attempts else { return nil }
        let complaint = attempt > 1 ? "Wrong passphrase. Try again.\n" : ""
        return try PassphrasePrompt.ask("\(complaint)Passphrase of \(vault.forTerminal): ", unless: isUnlocked)
    }
}
