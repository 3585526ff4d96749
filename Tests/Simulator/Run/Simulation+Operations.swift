import LinuxSystem
import Vault

/// An operation that is under way.
final class Attempt {
    let operation: Plan.Operation
    /// The index of the program.
    let program: Int
    let session: Simulation.Session
    let model: Model
    /// What there was of these when it began.
    let exchanges: Int
    let faultsMet: Int
    let memoryFaultsMet: Int
    let connectionsLost: Int
    let clock: Int64
    let step: Int
    /// The last write that it has begun.
    var write: Model.Write?

    init(
        _ operation: Plan.Operation, of program: Int, _ session: Simulation.Session, in simulation: Simulation
    ) {
        (self.operation, self.program, self.session) = (operation, program, session)
        model = operation.kind.isOfPreferences ? simulation.preferences[session.process.machine] : simulation.vault
        exchanges = simulation.exchanges
        faultsMet = session.process.faultsMet
        memoryFaultsMet = session.process.memoryFaultsMet
        connectionsLost = session.process.connectionsLost
        clock = simulation.world.scheduler.clock
        step = simulation.world.scheduler.steps
    }

    var isVault: Bool { !operation.kind.isOfPreferences }
    var hasMetFault: Bool { session.process.faultsMet != faultsMet }
    /// Whether what the machine remembers could not be read.
    var hasLostMemory: Bool { session.process.memoryFaultsMet != memoryFaultsMet }
    var hasLostConnection: Bool { session.process.connectionsLost != connectionsLost }
    var name: String { "a/\(Int(operation.choices[0] * 6))" }

    var value: String {
        let largest = operation.choices[2] > 0.95 ? 70_000.0 : 2_500
        let size = Int(operation.choices[1] * operation.choices[1] * largest)
        return "v\(operation.number) " + String(repeating: "x", count: size)
    }
}

extension Simulation {
    func perform(_ operation: Plan.Operation, of index: Int, in session: Session) {
        if operation.kind == .rest {
            return world.scheduler.sleep(Int64(operation.choices[0] * operation.choices[1] * 2e9))
        }
        if plan.programs[index].opensEachTime { session.keychain = nil }
        let attempt = Attempt(operation, of: index, session, in: self)
        attempts.append(attempt)
        defer {
            attempts.removeAll { $0 === attempt }
            // Whoever cannot read what the machine remembers may make it remember this file; it is told.
            if attempt.isVault, attack?.isRollback == true, attempt.hasMetFault { isDamagedForGood = true }
        }
        world.scheduler.step()
        guard !session.process.isDead else { return }
        world.trace("\(operation.number) \(operation.kind)")
        var outcome = "done"
        do throws(VaultError) { try make(attempt) } catch {
            guard !session.process.isDead else { return }
            outcome = error.code.name
            world.trace("\(operation.number): \(outcome): \(error.message)")
            judge(error, of: attempt)
            // Such a process writes nothing more to the vault.
            if error.code == .outcomeUnknown { session.keychain = nil }
        }
        if !session.process.isDead { world.statistics.count(operation: "\(operation.kind)", outcome) }
    }

    private func make(_ attempt: Attempt) throws(VaultError) {
        let (operation, session) = (attempt.operation, attempt.session)
        if operation.kind.isObserving { return try observe(attempt) }
        if !attempt.isVault { return try make(attempt, in: preferencesStore(of: session)) }
        let keychain = try keychain(of: session)
        switch operation.kind {
        case .compact: try keychain.eraseRemoved()
        case .verify: _ = try keychain.verify()
        default: try make(attempt, in: keychain)
        }
    }

    private func make(_ attempt: Attempt, in store: any ValueStore) throws(VaultError) {
        switch attempt.operation.kind {
        case .set, .setPreference: _ = try write([attempt.name: attempt.value], attempt, in: store)
        case .setSeveral:
            let names = (0...Int(attempt.operation.choices[3] * 3)).map {
                "a/\((Int(attempt.operation.choices[0] * 6) + $0) % 6)"
            }
            _ = try write(
                Dictionary(uniqueKeysWithValues: names.map { ($0, attempt.value) }), attempt, in: store)
        case .remove: _ = try write([attempt.name: nil], attempt, in: store)
        case .count, .countPreference: while try !count(attempt, in: store) {}
        case .get, .getPreference:
            let start = attempt.model.tick()
            take([attempt.name: try store.value(of: attempt.name)?.text], attempt, since: start)
        case .list:
            let start = attempt.model.tick()
            take(texts(try store.contents(prefix: ""), of: attempt.model), attempt, since: start)
        case .compact, .verify, .rest, .observe, .observePreferences: break
        }
    }

    // MARK: Writing

    /// Adds one to what a name holds: a lost update would show as two changes of one value.
    private func count(_ attempt: Attempt, in store: any ValueStore) throws(VaultError) -> Bool {
        let start = attempt.model.tick()
        let base = try store.value(of: "count")
        take(["count": base?.text], attempt, since: start)
        let number = Int((base?.text ?? "").prefix { $0.isNumber }) ?? 0
        return try write(
            ["count": "\(number + 1) by \(attempt.operation.number) at \(start)"], attempt, in: store,
            expecting: ["count": base])
    }

    private func write(
        _ values: [String: String?], _ attempt: Attempt, in store: any ValueStore,
        expecting expected: [String: StoredValue?] = [:]
    ) throws(VaultError) -> Bool {
        let write = attempt.model.begin(values)
        if let base = expected["count"] { write.base = base?.text ?? "none" }
        attempt.write = write
        let batch = StoreBatch(values.mapValues { $0.map(StoredValue.string) }, expecting: expected)
        do throws(VaultError) {
            let isDone = try store.commit(batch)
            settle(write, attempt, isDone ? nil : .busy)
            return isDone
        } catch {
            settle(write, attempt, error.code)
            throw error
        }
    }

    private func settle(_ write: Model.Write, _ attempt: Attempt, _ failure: VaultError.Code?) {
        guard !attempt.session.process.isDead else { return }
        let written = write.values.mapValues { $0?.prefix(20) }
        world.trace("\(attempt.operation.number) wrote \(written): \(failure?.name ?? "ok")")
        if failure == .outcomeUnknown { return attempt.model.abandon(write) }
        if failure != nil {
            if let wrong = attempt.model.refuse(write) { fail(wrong) }
        } else if attempt.isVault, attack?.isRollback == true {
            if !attempt.hasMetFault, !isDamagedForGood { fail("an older vault, or another one, was written to") }
        } else {
            if let wrong = attempt.model.acknowledge(write) { fail(wrong) }
            remember(write, attempt)
        }
    }

    /// Notes what a machine has learned. Removing what is not there writes nothing.
    private func remember(_ write: Model.Write, _ attempt: Attempt) {
        guard attempt.isVault, !attempt.hasMetFault, write.values.values.contains(where: { $0 != nil }) else { return }
        let machine = attempt.session.process.machine
        remembered[machine] = max(remembered[machine] ?? write.start, write.start)
    }

    // MARK: Reading

    func take(_ values: [String: String?], _ attempt: Attempt, since start: Int) {
        guard !attempt.session.process.isDead else { return }
        world.trace("\(attempt.operation.number) read \(values.compactMapValues { $0?.prefix(20) })")
        let wrong = attempt.model.read(
            values, since: start, isDurable: attempt.isVault,
            isDisturbed: attempt.isVault
                && (isDamagedForGood || exchanges != attempt.exchanges || isUnnoticed(by: attempt)))
        if let wrong { fail(wrong) }
    }

    /// Whether the file was exchanged so short a time ago that a vault that is open need not have noticed, or what the
    /// machine remembers cannot be read.
    private func isUnnoticed(by attempt: Attempt) -> Bool {
        guard let attack else { return false }
        return attempt.hasLostMemory
            || (attempt.clock < attack.noticedAt && !plan.programs[attempt.program].opensEachTime)
    }

    /// Whether there is, or was meanwhile, another file at the vault's path.
    func isAttacked(_ attempt: Attempt) -> Bool {
        attempt.isVault && (attack != nil || exchanges != attempt.exchanges || isDamagedForGood)
    }

    // MARK: Errors

    /// Fails unless there is a reason for an error.
    func judge(_ error: VaultError, of attempt: Attempt) {
        let isAttacked = isAttacked(attempt)
        // In a database, also because of a program that keeps the lock while it stands still.
        let hasWaited = world.scheduler.clock - attempt.clock >= 9_900_000_000
        let isInDatabase = places.isInDatabase && attempt.isVault
        let isExplained =
            switch error.code {
            case .busy: hasWaited
            case .unavailable:
                attempt.hasMetFault || world.room != nil || attempt.hasLostConnection || isInDatabase && hasWaited
            // A server that answers tells what has become of a change, whatever the machine's own disk does.
            case .outcomeUnknown: !isInDatabase && (attempt.session.process.faultsMet > 0 || world.room != nil)
            case .locked: isAttacked || attempt.hasMetFault
            case .rolledBack, .diverged: isAttacked || isExcused(attempt)
            case .damaged, .exchanged, .newerFormat: isAttacked
            default: false
            }
        if !isExplained { fail("\(attempt.operation.number) \(attempt.operation.kind): \(error.code.name): \(error)") }
    }
}

extension Plan.Operation.Kind {
    var isOfPreferences: Bool {
        [.setPreference, .getPreference, .countPreference, .observePreferences].contains(self)
    }
    var isObserving: Bool { [.observe, .observePreferences].contains(self) }
    var writesVault: Bool { [.set, .setSeveral, .remove, .count, .compact].contains(self) }
}
