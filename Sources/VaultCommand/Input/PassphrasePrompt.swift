import Sealing
import Vault

/// Asks for passphrases at the terminal.
enum PassphrasePrompt {
    /// How often a person may try.
    static let attempts = 3

    /// Asks for the passphrase of a vault, as ``Keychain/Options/passphrase`` does it; nil without a terminal, and
    /// after the last attempt.
    static func ask(for vault: String, attempt: Int) throws(VaultError) -> SecretBytes? {
        guard attempt <= attempts else { return nil }
        let complaint = attempt > 1 ? "Wrong passphrase. Try again.\n" : ""
        return try ask("\(complaint)Passphrase of \(vault.forTerminal): ")
    }

    /// nil without a terminal.
    static func ask(_ prompt: String) throws(VaultError) -> SecretBytes? {
        guard let terminal = try? HiddenTerminal.open() else { return nil }
        do { return try ValueInput.readLine(prompt, terminal) } catch {
            let error = CommandError(error)
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
