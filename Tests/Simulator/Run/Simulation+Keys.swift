import LinuxSystem
import TestSupport
import Vault

// The keys that open the vault, beside the first one, and the data key. A key is known by its label.

extension Simulation {
    private static let present = "present"

    private func keyPath(_ label: String) -> String { "\(World.home)/more-keys/\(label).key" }

    // MARK: Reading

    func listKeys(_ attempt: Attempt, _ keychain: Keychain) throws(VaultError) {
        _ = try currentKeys(attempt, keychain)
    }

    /// Returns the keys, and checks them and the data key.
    private func currentKeys(
        _ attempt: Attempt, _ keychain: Keychain
    ) throws(VaultError) -> (keys: Set<Keychain.VaultKeys.Key>, fingerprint: String) {
        let start = keys.tick()
        let found = try keychain.vaultKeys.all()
        let fingerprint = try keychain.vaultKeys.fingerprint()
        guard !attempt.session.process.isDead else { return (Set(found), fingerprint) }
        world.trace("\(attempt.operation.number) keys \(found.map(\.label)) \(fingerprint.prefix(9))")
        if !isAttacked(attempt) {
            checkKeys(found, since: start)
            if let wrong = dataKeys.read(fingerprint, since: start, until: keys.tick()) { fail(wrong) }
        }
        return (Set(found), fingerprint)
    }

    func checkKeys(_ found: [Keychain.VaultKeys.Key], since start: Int) {
        var values = [String: String?](uniqueKeysWithValues: keys.names.map { ($0, nil) })
        for key in found where !key.label.isEmpty { values[key.label] = Simulation.present }
        let wrong = keys.read(values, since: start, isDurable: true, isDisturbed: false)
        if let wrong { fail("of the keys, \(wrong)") }
    }

    // MARK: Changing

    func addKey(_ attempt: Attempt, _ keychain: Keychain) throws(VaultError) {
        let label = "k\(attempt.operation.number)"
        let write = attempt.begin([label: Simulation.present], in: keys)
        try decided(write, attempt) { () throws(VaultError) in
            try keychain.vaultKeys.addKeyFile(at: keyPath(label), label: label)
        }
    }

    func removeKey(_ attempt: Attempt, _ keychain: Keychain) throws(VaultError) {
        let removable = try currentKeys(attempt, keychain).keys.filter { !$0.label.isEmpty }
        guard let key = removable.sorted(by: { $0.label < $1.label }).first else { return }
        let write = attempt.begin([key.label: nil], in: keys)
        try decided(write, attempt) { () throws(VaultError) in try keychain.vaultKeys.remove(key) }
    }

    /// Rotates the data key, perhaps as often as in months: other machines may not have opened the vault meanwhile.
    func rotate(_ attempt: Attempt, _ keychain: Keychain) throws(VaultError) {
        let isFrequent = attempt.operation.choices[0] < 0.25
        for _ in 0..<(isFrequent ? 8 + Int(attempt.operation.choices[1] * 4) : 1) {
            let (found, fingerprint) = try currentKeys(attempt, keychain)
            let names = world.disks[attempt.session.process.machine].names
            // Keys whose files are on another machine cannot stay.
            let dropped = found.filter { !$0.label.isEmpty && names[keyPath($0.label)] == nil }
            let write = attempt.begin(
                [String: String?](uniqueKeysWithValues: dropped.map { ($0.label, nil) }), in: keys)
            try decided(write, attempt) { () throws(VaultError) in
                try keychain.vaultKeys.rotateDataKey(dropping: dropped) { (key) throws(VaultError) in
                    try .keyFile(keyPath(key.label))
                }
            }
            guard !attempt.session.process.isDead else { return }
            // Nothing is read: that would flush what the rotation has to.
            dataKeys.replace(fingerprint, at: keys.tick())
        }
    }

    /// Makes a change of the keys, and notes what has become of it.
    private func decided(
        _ write: Model.Write, _ attempt: Attempt, _ change: () throws(VaultError) -> Void
    ) throws(VaultError) {
        do throws(VaultError) { try change() } catch {
            guard !attempt.session.process.isDead else { throw error }
            if error.code == .outcomeUnknown {
                keys.abandon(write)
            } else if let wrong = keys.refuse(write) {
                fail(wrong)
            }
            throw error
        }
        guard !attempt.session.process.isDead else { return }
        if attack?.isRollback == true {
            if !isDamagedForGood { fail("the keys of an older vault, or of another one, were changed") }
        } else if let wrong = keys.acknowledge(write) {
            fail(wrong)
        }
    }
}
