import LinuxSystem
import Vault

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
        world.events?.note(session.process, "begin \(operation.kind)")
        var outcome = "done"
        do throws(VaultError) { try make(attempt) } catch {
            guard !session.process.isDead else { return }
            outcome = error.code.name
            world.trace("\(operation.number): \(outcome): \(error.message)")
            judge(error, of: attempt)
            // Such a process writes nothing more to the vault.
            if error.code == .outcomeUnknown { session.keychain = nil }
            if [.rolledBack, .diverged].contains(error.code) { noteAlarm(attempt) }
        }
        guard !session.process.isDead else { return }
        world.statistics.count(operation: "\(operation.kind)", outcome)
        world.events?.note(session.process, "end \(operation.kind) \(eventResult(of: operation, outcome))")
    }

    private func eventResult(of operation: Plan.Operation, _ outcome: String) -> String {
        switch outcome {
        case "done": "done"
        case "outcomeUnknown": "unknown"
        // What was merged before an error stays; a copy leaves the vault alone.
        default:
            operation.kind.writesVault && ![.merge, .mergeKept, .copy].contains(operation.kind)
                ? "refused" : "error \(outcome)"
        }
    }

    private func make(_ attempt: Attempt) throws(VaultError) {
        let operation = attempt.operation
        let session = attempt.session
        if operation.kind.isObserving { return try observe(attempt) }
        if !attempt.isVault { return try make(attempt, in: preferencesStore(of: session)) }
        let keychain = try keychain(of: session)
        switch operation.kind {
        case .compact: try keychain.eraseRemoved()
        case .rotate: try rotate(attempt, keychain)
        case .addKey: try addKey(attempt, keychain)
        case .removeKey: try removeKey(attempt, keychain)
        case .listKeys: try listKeys(attempt, keychain)
        case .copy: try copy(attempt, keychain)
        case .merge: try merge(attempt, keychain)
        case .setOffline: try setOffline(attempt, keychain)
        case .listOffline: try listOffline(attempt, keychain)
        case .setOnce, .removeOnce: try changeOnce(attempt, keychain)
        case .mergeKept: try mergeKept(attempt, keychain)
        case .verify: _ = try keychain.maintenance.verify()
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
        default: break
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

    func write(
        _ values: [String: String?], _ attempt: Attempt, in store: any ValueStore,
        expecting expected: [String: StoredValue?] = [:]
    ) throws(VaultError) -> Bool {
        let write = attempt.begin(values)
        if let base = expected["count"] { write.base = base?.text ?? "none" }
        let batch = StoreBatch(values.mapValues { $0.map(StoredValue.string) }, expecting: expected)
        do throws(VaultError) {
            let isDone = try store.commit(batch)
            conclude(write, attempt, isDone ? nil : .busy)
            return isDone
        } catch {
            conclude(write, attempt, error.code)
            throw error
        }
    }

    private func conclude(_ write: Model.Write, _ attempt: Attempt, _ failure: VaultError.Code?) {
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
            enter(write, attempt)
        }
    }

    /// Notes what a machine has learned. Removing what is not there writes nothing.
    private func remember(_ write: Model.Write, _ attempt: Attempt) {
        guard attempt.isVault, !attempt.hasMetFault, write.values.values.contains(where: { $0 != nil }) else { return }
        let machine = attempt.session.process.machine
        remembered[machine] = max(remembered[machine] ?? write.start, write.start)
    }

    /// Notes a change that was acknowledged: it is on the machine now. If the server was put back during the operation,
    /// it may be on the server alone: the machine's copy stays that of the former history.
    func enter(_ write: Model.Write, _ attempt: Attempt) {
        guard attempt.isVault, !isBesetByRestore(attempt) else { return }
        ledger.note(write, on: attempt.session.process.machine, at: world.scheduler.steps)
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
        let isInDatabase = location.isInDatabase && attempt.isVault
        let isExplained =
            switch error.code {
            // Another program has changed the keys meanwhile, or compacts, or has removed the key.
            case .busy: hasWaited || attempt.operation.kind.changesKeys
            case .absent: attempt.operation.kind == .removeKey || attempt.operation.kind == .rotate
            case .unavailable:
                attempt.hasMissedServer(of: world) || attempt.hasMetFault || world.room != nil
                    || attempt.hasLostConnection || isInDatabase && hasWaited
            // A server that answers tells what has become of a change, whatever the machine's own disk does. A copy is
            // on that disk.
            case .outcomeUnknown:
                attempt.hasMissedServer(of: world)
                    || (!isInDatabase || attempt.operation.kind == .copy)
                        && (attempt.session.process.faultsMet > 0 || world.room != nil)
            // A key whose file another machine has was added meanwhile.
            case .locked:
                isAttacked || attempt.hasMetFault || attempt.operation.kind == .rotate && plan.machines > 1
            case .rolledBack, .diverged: isAttacked || isExcused(attempt) || isRestored(for: attempt)
            case .damaged: isAttacked || isBesetByRestore(attempt)
            case .exchanged, .newerFormat: isAttacked
            default: false
            }
        if !isExplained { fail("\(attempt.operation.number) \(attempt.operation.kind): \(error.code.name): \(error)") }
    }
}

extension Plan.Operation.Kind {
    var isOfPreferences: Bool {
        [.setPreference, .getPreference, .countPreference, .observePreferences].contains(self)
    }
    var isOffline: Bool { [.setOffline, .listOffline].contains(self) }
    var isOfRestores: Bool { [.setOnce, .removeOnce, .mergeKept].contains(self) }
    var isObserving: Bool { [.observe, .observePreferences].contains(self) }
    var writesVault: Bool {
        [.set, .setSeveral, .remove, .count, .compact, .copy, .setOnce, .removeOnce].contains(self) || changesKeys
    }
    /// Whether it writes another header.
    var changesKeys: Bool { [.rotate, .addKey, .removeKey, .merge, .mergeKept].contains(self) }
}
