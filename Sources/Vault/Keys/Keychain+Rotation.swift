import SealedLog
import Sealing

extension Keychain {
    /// Generates a new data key and seals everything anew under it, into a new file. Who kept the old one can open
    /// nothing in it. Others may write meanwhile.
    ///
    /// First remove the keys of those who are to have no access. Each that stays needs its secret once more, except the
    /// one in use, commands, and recipients, whose public key is enough. People who open the vault by an age identity
    /// have to compare its fingerprint again.
    ///
    /// - Parameters:
    ///   - dropped: the numbers of keys that are removed first. The one in use has to stay.
    ///   - secret: finds the secret of a key file or a passphrase; nil if it is not at hand, which is an error.
    /// - Throws: ``VaultError`` with `locked` for a key whose secret is missing or wrong, with its number; `absent` and
    ///   `invalid` for one that cannot be dropped; what `secret` throws; as ``eraseRemoved()``.
    public func rotateDataKey(
        dropping dropped: Set<Int> = [],
        _ secret: (Key) throws(VaultError) -> KeySecret? = { (_) throws(VaultError) in nil }
    ) throws(VaultError) {
        try rotateDataKey(dropping: dropped, progress: nil, secret)
    }

    package func rotateDataKey(
        dropping dropped: Set<Int>, progress: UpkeepProgress?, _ secret: (Key) throws(VaultError) -> KeySecret?
    ) throws(VaultError) {
        for number in dropped { try check(number) }
        var refusal: VaultError?
        do throws(VaultError) {
            try changeKeys(progress) { (table) throws(LogError) in
                guard let own = table.own, !dropped.contains(own + 1) else {
                    throw LogError(.invalid, "the key in use cannot be dropped; open the vault with another key first")
                }
                let numbers = (1...table.slots.count).filter { !dropped.contains($0) }
                for number in dropped.sorted(by: >) { try table.remove(at: number - 1) }
                try table.rotate { (index, slot, label) throws(LogError) in
                    let key = Key(LogKeySlot(slot, label, isOwn: false), number: numbers[index])
                    do throws(VaultError) { return try renewal(of: key, slot, secret) } catch {
                        refusal = error
                        throw LogError(.keyMissing)
                    }
                }
            }
        } catch { throw refusal ?? error }
        // Here the vault is known, by whichever key.
        try places.translated(
            places.trust(log.vaultID) { [fingerprint = log.fingerprint()] record in
                if record.fingerprint != nil { record.fingerprint = fingerprint }
            })
    }

    private func renewal(
        of key: Key, _ slot: KeySlot, _ secret: (Key) throws(VaultError) -> KeySecret?
    ) throws(VaultError) -> SlotTable.Renewal {
        if let command = key.command {
            let credential = try places.translated(Credential.keyFile(KeyCommand(line: command).key()))
            return SlotTable.Renewal(credential, parameters: slot.parameters)
        }
        if let recipient = key.recipient { return try renewal(for: recipient) }
        guard let given = try secret(key) else {
            throw VaultError(
                .locked, "\(key.words) needs its secret to stay. Give it, or drop the key.",
                cause: .keySecretMissing(key.number))
        }
        let credential = try given.credential(places, options.unlocking)
        guard try places.translated(credential.opens(slot)) else {
            throw VaultError(
                .locked, "\(key.words) is not opened by the secret that was given for it. Nothing was changed.")
        }
        return SlotTable.Renewal(credential, parameters: slot.parameters)
    }
}
