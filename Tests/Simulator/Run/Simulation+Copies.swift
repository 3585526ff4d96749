import LinuxSystem
import Vault

/// A copy of the vault that has gone its own way.
struct ChangedCopy {
    let path: String
    /// What was set in it since.
    let values: [String: String]
}

extension Simulation {
    /// Copies the vault, and sets a name of the copy's own and one that the vault has too.
    func copy(_ attempt: Attempt, _ keychain: Keychain) throws(VaultError) {
        let machine = attempt.session.process.machine
        let path = "\(World.home)/copy-\(attempt.operation.number).vault"
        try keychain.copies.backUp(to: path)
        var copyLocations = location
        var options = Keychain.Options()
        copyLocations.vault = path
        options.usesRollbackMemory = false
        let copy = try Keychain(
            at: copyLocations, creatingIfAbsent: false, options: options, failures: FailureLog { _, _ in },
            in: SimulatedFileSystem(world: world, process: attempt.session.process))
        let values = ["m/\(attempt.operation.number)": attempt.value, attempt.name: "copied " + attempt.value]
        _ = try copy.commit(StoreBatch(values.mapValues { .string($0) }))
        guard !attempt.session.process.isDead, !isAttacked(attempt) else { return }
        copies[machine, default: []].append(ChangedCopy(path: path, values: values))
    }

    /// Merges the newest copy of the machine. What it has set must be in the vault then, unless the vault has a later
    /// value.
    func merge(_ attempt: Attempt, _ keychain: Keychain) throws(VaultError) {
        guard let copy = copies[attempt.session.process.machine]?.popLast() else { return }
        let writes = copy.values.sorted { $0.key < $1.key }.map {
            (name: $0.key, write: attempt.begin([$0.key: $0.value]))
        }
        let report: Keychain.Copies.Merge
        do throws(VaultError) { report = try keychain.copies.merge(copy.path) } catch {
            // What was merged before an error stays.
            if !attempt.session.process.isDead { attempt.abandon() }
            throw error
        }
        guard !attempt.session.process.isDead else { return }
        world.trace("\(attempt.operation.number) merged \(report.changed)")
        for (name, write) in writes {
            // The data key was rotated since: nothing tells who has changed the copy.
            if report.refused.contains(name) {
                if report.changed.contains(name) { fail("a merge has taken over \(name), and says that it has not") }
                if let wrong = vault.refuse(write) { fail(wrong) }
                continue
            }
            let isOwn = name.hasPrefix("m/")
            guard report.changed.contains(name) else {
                if isOwn { fail("a merge has left out \(name)") }
                if let wrong = vault.refuse(write) { fail(wrong) }
                continue
            }
            // Of a name that both have, the history alone may have changed.
            if !isOwn { vault.abandon(write) } else if let wrong = vault.acknowledge(write) { fail(wrong) }
        }
    }
}
