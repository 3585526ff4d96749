import Age
import SealedLog

extension Keychain.VaultKeys {
    /// Adds an age recipient, such as a colleague or a device with an age plugin, whose identity then opens the vault.
    ///
    /// A recipient's public key is not secret, so anyone could create another vault for it. Therefore, people who open
    /// the vault with the identity must compare the vault's ``fingerprint()`` once on each machine; see
    /// ``Keychain/Options/fingerprint``.
    ///
    /// - Parameter recipient: `age1…`, as `age-keygen` or a plugin prints it.
    /// - Throws: the errors of ``addKeyFile(at:label:)``; `invalid` if `recipient` is malformed, or if a plugin fails.
    public func addRecipient(_ recipient: String, label: String = "") throws(VaultError) {
        let wrapped = try WrappedFileKey(for: recipient, asking: keychain.options.pluginPrompter)
        try changeKeys { (table) throws(LogError) in
            guard !table.labels.contains(where: { $0.recipient == recipient }) else { throw LogError(.slotExists) }
            try table.add(wrapped, for: recipient, label: label)
        }
        keychain.remember { record, fingerprint in record.fingerprint = fingerprint }
    }

    func renewal(for recipient: String) throws(VaultError) -> SlotTable.Renewal {
        let wrapped = try WrappedFileKey(for: recipient, asking: keychain.options.pluginPrompter)
        return SlotTable.Renewal(
            recipient: try keychain.location.translated(wrapped.credential()), stanzas: wrapped.stanzas)
    }
}

/// A new file key, and the age stanzas that wrap it for a recipient.
struct WrappedFileKey: ~Copyable {
    private let fileKey: SecretBytes
    private let salt = RandomBytes.array(KeyDerivation.saltSize)
    let stanzas: [UInt8]

    init(for recipient: String, asking prompter: any PluginPrompter) throws(VaultError) {
        do throws(AgeError) {
            let key = try FileKey.generate()
            stanzas = try Wrapping.wrap(key, to: Recipient(recipient), asking: prompter).flatMap(\.text)
            fileKey = key
        } catch { throw VaultError(error, "The recipient cannot be used") }
    }

    borrowing func credential() throws(LogError) -> Credential { try .recipient(fileKey.copy(), ofSlotWith: salt) }
}

extension SlotTable {
    mutating func add(_ wrapped: borrowing WrappedFileKey, for recipient: String, label: String) throws(LogError) {
        try add(
            wrapped.credential(), limits: .recommended, parameters: wrapped.stanzas, label: label, recipient: recipient)
    }
}
