import Vault

enum PassphrasePrompt {
    /// Asks for a passphrase. Returns nil if there is no terminal, or no way to wait until this process controls it.
    ///
    /// - Parameter isAnswered: called if this prompt had to wait for another one. If it returns true, the passphrase is
    ///   no longer needed, and this method returns nil.
    static func ask(_ prompt: String, unless isAnswered: () -> Bool = { false }) throws(VaultError) -> SecretBytes? {
        guard let terminal = try? PromptTerminal.open() else { return nil }
        if terminal.hasWaited, isAnswered() { return nil }
        do { return try ValueInput.readLine(prompt, terminal) } catch {
            let error = CommandError(error, advising: AdvisedCommand())
            if error == PromptTerminal.isInBackground { return nil }
            guard error.exit == .refused else { throw VaultError(.unavailable, error.message) }
            throw VaultError(.locked, "Cancelled; the vault stays locked.")
        }
    }

    /// - Throws: ``CommandError`` (refused) if the inputs differ, the prompt is cancelled, or there is no terminal.
    static func askForNew() throws -> SecretBytes {
        let first = try ValueInput.askTwice(
            "New passphrase (not shown): ", "Repeat the passphrase: ", consequence: "no key was added")
        guard first.count > 0 else { throw CommandError.invalid("The passphrase is empty; no key was added.") }
        if first.count < 12 {
            StandardError.write("vault: warning: This passphrase is short. Use at least five random words.\n")
        }
        return first
    }
}

struct TerminalPassphrasePrompter: PassphrasePrompter {
    private static let attempts = 3

    /// The vault's location, shown in the prompt.
    let vault: String

    func ask(attempt: Int, unless isUnlocked: () -> Bool) throws(VaultError) -> SecretBytes? {
        guard attempt <= TerminalPassphrasePrompter.attempts else { return nil }
        let complaint = attempt > 1 ? "Wrong passphrase. Try again.\n" : ""
        return try PassphrasePrompt.ask("\(complaint)Passphrase of \(vault.forTerminal): ", unless: isUnlocked)
    }
}
