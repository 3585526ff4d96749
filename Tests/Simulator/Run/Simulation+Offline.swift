import SealedLog
import TestSupport
import Vault

extension Simulation {
    /// Sets a name of its own. If no server answers, the change is kept apart, and is in the vault once it was merged.
    func setOffline(_ attempt: Attempt, _ keychain: Keychain) throws(VaultError) {
        let write = attempt.begin(["p/\(attempt.operation.number)": attempt.value])
        do throws(VaultError) {
            _ = try keychain.commit(StoreBatch(write.values.mapValues { $0.map(StoredValue.string) }))
        } catch {
            guard !attempt.session.process.isDead, error.code != .outcomeUnknown else { throw error }
            if let wrong = vault.refuse(write) { fail(wrong) }
            throw error
        }
        guard !attempt.session.process.isDead else { return }
        attempt.forget(write)
        enter(write, attempt)
        promised.append(write)
    }

    /// Reads what there is: it may be out of date.
    func listOffline(_ attempt: Attempt, _ keychain: Keychain) throws(VaultError) {
        let start = vault.tick()
        let shown = texts(try keychain.contents(prefix: ""), of: vault)
        guard !attempt.session.process.isDead else { return }
        if let wrong = vault.read(shown, since: start, isDurable: false, isDisturbed: true) { fail(wrong) }
    }

    /// At the end, every machine has merged what it has kept apart; what a merge has refused since the data key was
    /// rotated is taken over as its message says.
    func checkPromises() {
        guard world.scheduler.failure == nil, !promised.isEmpty else { return }
        do throws(VaultError) {
            for machine in 0..<plan.machines { try takeOverRefused(on: machine) }
            // The ledger says what a machine can bring back.
            guard restores.last == nil else { return }
            let contents = try keychain(of: Session(world.startProcess(on: 0))).contents(prefix: "p/")
            for (name, value) in promised.lazy.flatMap(\.values) where contents[name]?.text != value {
                fail("at the end: \(name) was never merged")
            }
        } catch { fail("at the end: \(error.code.name): \(error.message)") }
    }

    private func takeOverRefused(on machine: Int) throws(VaultError) {
        let copies = world.disks[machine].names.keys.filter { $0.hasSuffix(".refused.vault") }
        guard !copies.isEmpty else { return }
        let isRotated = plan.programs.contains { $0.operations.contains { $0.kind == .rotate } }
        if !isRotated { fail("offline changes were refused: \(copies)") }
        let keychain = try keychain(of: Session(world.startProcess(on: machine)))
        for copy in copies.sorted() {
            let report = try keychain.copies.merge(
                keychain.copies.copy(at: copy), taking: .all, keepingKeys: [], progress: nil)
            if !report.refused.isEmpty { fail("\(report.refused) of \(copy) were refused again") }
        }
    }
}
