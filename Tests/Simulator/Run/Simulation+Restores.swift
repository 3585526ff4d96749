import LinuxSystem
import TestSupport
import Vault

// A server is put back to an older dump, and goes on from there. Each machine that has seen more raises an alarm. Its
// person accepts it; what the machine has of the vault is kept as a file, and merged later. The server alone may have
// lost what no machine has; every change that was acknowledged is on the machine that has made it.

/// What has become of a vault since its server was put back.
struct Restores {
    /// When the server was put back last, by the scheduler's steps; nil if it never was.
    private(set) var last: Int?
    /// The machines that have raised an alarm which is not accepted yet.
    var alarmed: Set<Int> = []
    /// When the last alarm of each machine was accepted: when that opening began, and when it was done.
    var accepted: [Int: (began: Int, done: Int)] = [:]
    /// The files of each machine that are not merged yet.
    var unmerged: [Int: [String]] = [:]
    /// The files that a person was told of.
    fileprivate var told: Set<String> = []
    /// The machines with a process that was killed, or could not open the vault: it cannot tell of the file that it has
    /// kept.
    var silenced: Set<Int> = []
    /// Whether all copies were merged: nothing is left to be kept.
    fileprivate var isOver = false

    mutating func begin(at step: Int) { last = step }
}

extension Simulation {
    // MARK: The administrator

    func takeDump() -> Bool {
        guard let database = image.location.database, database.hasVault, database.copy(to: .dump) else { return false }
        hasDump = true
        return true
    }

    func restoreDump() -> Bool {
        guard hasDump else { return false }
        // Whoever restores a server ends it before.
        world.sockets?.cut { _ in true }
        world.sockets?.waitUntilQuiet()
        guard image.location.database?.exchange(for: .dump) == true else { return false }
        restores.begin(at: world.scheduler.steps)
        vault.isRestored = true
        return true
    }

    // MARK: Alarms

    /// Whether an alarm is true: this process, or its machine, may have seen more than the server has.
    func isRestored(for attempt: Attempt) -> Bool {
        guard let last = restores.last else { return false }
        // What was accepted is what the server had before it was put back once more.
        guard let accepted = restores.accepted[attempt.session.process.machine], accepted.began > last else {
            return true
        }
        return min(attempt.session.openedAt, attempt.step) <= accepted.done
    }

    /// Whether the server was put back during an operation: what it reads of the former state does not fit then.
    func isBesetByRestore(_ attempt: Attempt) -> Bool { restores.last.map { $0 >= attempt.step } ?? false }

    /// Notes that a program has raised an alarm. It opens the vault again for its next operation.
    func noteAlarm(_ attempt: Attempt) {
        guard restores.last != nil else { return }
        restores.alarmed.insert(attempt.session.process.machine)
        attempt.session.keychain = nil
    }

    /// Receives what a process tells of.
    func failures(of process: Process) -> FailureLog {
        FailureLog { [unowned self] error, _ in
            guard !process.isDead else { return }
            for case .copyKept(let path, let isComplete) in error.causes {
                noteKept(path, isComplete: isComplete, on: process.machine)
            }
        }
    }

    private func noteKept(_ path: String, isComplete: Bool, on machine: Int) {
        world.trace("machine \(machine) keeps a \(isComplete ? "whole" : "partial") copy", path)
        if world.disks[machine].names[path] == nil { fail("\(path) is told of, and is not there") }
        if restores.isOver { fail("\(path) was kept, although the vault includes it") }
        restores.told.insert("\(machine) \(path)")
        world.statistics.count(fault: isComplete ? "copy kept" : "copy kept in part")
        if isComplete {
            restores.unmerged[machine, default: []].append(path)
        } else {
            ledger.notePart(of: machine, at: world.scheduler.steps)
        }
    }

    // MARK: Operations

    /// Sets a name of its own, or removes one.
    func changeOnce(_ attempt: Attempt, _ keychain: Keychain) throws(VaultError) {
        if attempt.operation.kind == .setOnce {
            _ = try write(["\(Ledger.oncePrefix)\(attempt.operation.number)": attempt.value], attempt, in: keychain)
        } else if let chosen = ledger.takeRemovable(attempt.operation.choices[0]) {
            // Removing what a server has lost would change nothing.
            _ = try write(
                [chosen.name: nil], attempt, in: keychain, expecting: [chosen.name: .string(chosen.value)])
        }
    }

    /// Merges one of the copies that the machine has kept.
    func mergeKept(_ attempt: Attempt, _ keychain: Keychain) throws(VaultError) {
        let machine = attempt.session.process.machine
        guard let paths = restores.unmerged[machine], !paths.isEmpty else { return }
        let path = paths[Int(attempt.operation.choices[0] * Double(paths.count))]
        try mergeKept(path, of: machine, into: keychain)
    }

    private func mergeKept(_ path: String, of machine: Int, into keychain: Keychain) throws(VaultError) {
        let report = try keychain.copies.merge(path)
        world.trace("merged \(report.changed)", path)
        if !report.refused.isEmpty { fail("\(report.refused) of \(path) were refused") }
        world.statistics.mergedFromKept += report.changed.count
        restores.unmerged[machine]?.removeAll { $0 == path }
    }

    // MARK: The end

    /// Each machine's person accepts the vault as it is, and merges what the machine has kept.
    func mergeAllKept() throws(VaultError) {
        guard restores.last != nil else { return }
        for machine in (0..<plan.machines).shuffled(using: &world.chance) {
            restores.alarmed.insert(machine)
            let keychain = try keychain(of: Session(world.startProcess(on: machine)))
            for path in try keptFiles(of: machine).shuffled(using: &world.chance) {
                try mergeKept(path, of: machine, into: keychain)
            }
        }
        restores.isOver = true
    }

    private func keptFiles(of machine: Int) throws(VaultError) -> [String] {
        let untold = world.disks[machine].names.keys.filter {
            $0.contains("-kept-") && $0.hasSuffix(".vault") && !restores.told.contains("\(machine) \($0)")
        }
        if !untold.isEmpty, !restores.silenced.contains(machine) { fail("nobody was told of \(untold)") }
        // Who finds such a file does not know whether it is whole.
        if !untold.isEmpty { ledger.notePart(of: machine, at: world.scheduler.steps) }
        return restores.unmerged[machine] ?? []
    }

    func checkLedger() throws(VaultError) {
        guard world.scheduler.failure == nil, restores.last != nil else { return }
        var seen: [String: StoredValue]?
        for machine in 0..<plan.machines {
            let keychain = try keychain(of: Session(world.startProcess(on: machine)))
            let contents = try keychain.contents(prefix: "")
            if let seen, seen != contents { return fail("at the end: two machines see different values") }
            seen = contents
            let missing = ledger.missing(contents.mapValues(\.text)) { name in
                ((try? keychain.history.versions(of: name)) ?? []).compactMap { version in
                    try? keychain.history.get(name, version)?.unsafeString()
                }
            } _: {
                vault.changes(of: $0)
            }
            if let missing { return fail("at the end: \(missing)") }
        }
    }
}
