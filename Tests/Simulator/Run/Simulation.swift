import CSimulator
import LinuxSystem
import SealedFormat
import TestSupport
import Vault

/// One run: the programs of a plan on its machines, with its faults, and a model that says what they may read.
///
/// Sendable although unchecked: see ``Scheduler``.
final class Simulation: @unchecked Sendable {
    /// A program's present process.
    final class Session {
        let process: Process
        var keychain: Keychain?
        var preferences: Preferences?

        /// Whether a copy stands in for a server that does not answer.
        let allowsOffline: Bool
        /// When it began to open the vault, by the scheduler's steps.
        var openedAt = 0

        init(_ process: Process, allowsOffline: Bool = false) {
            self.process = process
            self.allowsOffline = allowsOffline
        }
    }

    let plan: Plan
    let world: World
    let vault: Model
    /// Of each machine.
    let preferences: [Model]
    let location: VaultLocation
    let image: Image
    var sessions: [Session] = []
    private var remaining: [ArraySlice<Plan.Operation>]
    var faults: ArraySlice<Plan.Fault>
    var attack: Attack?
    let storage: any VaultStorage
    /// When an older vault was copied.
    var backUpTime: Int?
    /// The start of the newest write that a machine is bound to remember; nil if it need not remember any.
    var remembered: [Int: Int] = [:]
    var attempts: [Attempt] = []
    /// The labels of the vault's keys, but for the first one.
    let keys = Model([:])
    let dataKeys = DataKeys()
    /// Copies of the vault that were changed, by machine.
    var copies: [Int: [ChangedCopy]] = [:]
    /// What programs without the server have stored, to be in the vault at the end.
    var promised: [Model.Write] = []
    /// Those of the vault file since the run began.
    var records: [RecordOfWrites] = []
    var losses: [Loss] = []
    /// Whether there is a dump of the server.
    var hasDump = false
    var restores = Restores()
    var ledger = Ledger()
    /// How many times the file was exchanged, or put back.
    var exchanges = 0
    /// Whether a compaction has kept damage, or a machine may remember an exchanged file: that cannot be undone.
    var isDamagedForGood = false
    /// Whether all programs are over. What opens the vault then is no process of the plan.
    private var isFinishing = false

    init(_ plan: Plan, _ image: Image, isTraced: Bool = false, events: EventLog? = nil) {
        self.plan = plan
        self.image = image
        let world = World(plan.seed, machines: plan.machines, image.location.database)
        self.world = world
        world.isTraced = isTraced
        world.events = events
        world.add(image.files)
        storage = image.storage(in: world)
        image.location.bucket?.onRequest { [unowned world] (request) throws(LogError) in try world.make(request) }
        vault = Model(image.values)
        preferences = (0..<plan.machines).map { _ in Model([:]) }
        location = image.location.location
        remaining = plan.programs.map { $0.operations[...] }
        faults = plan.faults[...]
    }

    /// Runs it, and returns what went wrong.
    func run() throws(SystemError) -> String? {
        world.scheduler.onStep = { [unowned self] in makeFaults() }
        world.onEnd = { [unowned self] process, end in self.end(process, end) }
        world.onHang = { [unowned self] process, hang in besetOthers(than: process, hang.choices) }
        world.onRecord = { [unowned self] process, key, record in note(record, in: key, by: process) }
        for index in plan.programs.indices {
            sessions.append(newSession(of: index))
            try start(index, after: 0)
        }
        world.scheduler.run()
        if world.scheduler.failure == nil { finish() }
        world.scheduler.onStep = {}
        world.onEnd = { _, _ in }
        world.onHang = { _, _ in }
        world.onRecord = { _, _, _ in }
        world.sockets?.end()
        world.statistics.runs = 1
        world.statistics.steps = world.scheduler.steps
        return world.scheduler.failure
    }

    /// Starts the threads of a program's process.
    func start(_ index: Int, after pause: Int64) throws(SystemError) {
        let session = sessions[index]
        for _ in 0..<plan.programs[index].threads {
            try world.scheduler.start(session.process) { [unowned self] in
                if pause > 0 { world.scheduler.sleep(pause) }
                while !session.process.isDead, let operation = remaining[index].popFirst() {
                    perform(operation, of: index, in: session)
                }
            }
        }
    }

    private func newSession(of index: Int) -> Session {
        let program = plan.programs[index]
        return Session(world.startProcess(on: program.machine), allowsOffline: program.allowsOffline)
    }

    func restart(_ index: Int) {
        sessions[index] = newSession(of: index)
        let pause = Int64.random(in: 1_000...200_000_000, using: &world.chance)
        do { try start(index, after: pause) } catch { fail("no thread: \(error)") }
    }

    func fail(_ reason: String) {
        world.trace("VIOLATION: \(reason)")
        world.scheduler.fail(reason)
        if !isFinishing { endProcesses() }
    }

    func endProcesses() {
        for session in sessions where !session.process.isDead { world.kill(session.process) }
    }

    // MARK: The end

    /// Once all is over and nothing fails any more, the vault opens, holds what it must, and takes another value.
    private func finish() {
        vault_simulation_enter(1)
        isFinishing = true
        defer { vault_simulation_enter(0) }
        world.sockets?.comeUp()
        world.room = nil
        world.hang = nil
        world.folderHang = nil
        for disk in world.disks.indices { world.disks[disk].forgetFailures() }
        endAttack()
        guard !isDamagedForGood else { return }
        do throws(VaultError) { try mergeAllKept() } catch {
            return fail("at the end, where copies are merged: \(error.code.name): \(error.message)")
        }
        for machine in 0..<plan.machines {
            do throws(VaultError) { try finish(on: machine) } catch {
                fail("at the end, on machine \(machine): \(error.code.name): \(error.message)")
            }
        }
        checkPromises()
        do throws(VaultError) { try checkLedger() } catch { fail("at the end: \(error.code.name): \(error.message)") }
    }

    private func finish(on machine: Int) throws(VaultError) {
        let session = Session(world.startProcess(on: machine))
        let keychain = try keychain(of: session)
        check(try keychain.contents(prefix: ""), of: vault, since: vault.tick())
        _ = try keychain.commit(StoreBatch(["a/end": .string("end \(machine)")]))
        _ = try keychain.maintenance.verify()
        guard try keychain.value(of: "a/end") == .string("end \(machine)") else { return fail("the end is not kept") }
        let names = world.disks.map(\.names.keys).joined().filter { $0.contains("default.vault.vault-new") }
        if !names.isEmpty { fail("left behind: \(names)") }
        let start = keys.tick()
        checkKeys(try keychain.vaultKeys.all(), since: start)
        if let wrong = dataKeys.read(try keychain.vaultKeys.fingerprint(), since: start, until: keys.tick()) {
            fail(wrong)
        }
        let preferences = preferencesStore(of: session)
        let model = self.preferences[machine]
        check(try preferences.contents(prefix: ""), of: model, since: model.tick())
    }

    private func check(_ contents: [String: StoredValue], of model: Model, since start: Int) {
        let shown = contents.filter { $0.key != "a/end" }
        if let wrong = model.read(texts(shown, of: model), since: start, isDurable: true, isDisturbed: false) {
            fail("at the end: \(wrong)")
        }
    }

    // MARK: Stores

    static let preferencesPath = World.home + "/config/preferences.plist"

    func keychain(of session: Session) throws(VaultError) -> Keychain {
        if let keychain = session.keychain { return keychain }
        let process = session.process
        var options = Keychain.Options()
        // An alarm is accepted of what the server has.
        let isAlarmed = restores.alarmed.contains(process.machine)
        if session.allowsOffline, !isAlarmed { options.offline = .ifUnreachable }
        if acceptsLoss(on: process.machine) { options.acceptedAlarms = [.rolledBack] }
        if isAlarmed { options.acceptedAlarms = [.rolledBack, .diverged] }
        let faultsMet = process.faultsMet
        session.openedAt = world.scheduler.steps
        let keychain: Keychain
        do throws(VaultError) {
            keychain = try Keychain(
                at: location, creatingIfAbsent: true, options: options, failures: failures(of: process),
                in: SimulatedFileSystem(world: world, process: process))
        } catch {
            // What it may have kept is kept once more at the next opening, which tells of that.
            if isAlarmed { restores.silenced.insert(process.machine) }
            throw error
        }
        if isAlarmed, !process.isDead {
            restores.alarmed.remove(process.machine)
            restores.accepted[process.machine] = (session.openedAt, world.scheduler.steps)
        }
        if !options.acceptedAlarms.isEmpty, process.faultsMet == faultsMet, !process.isDead {
            acceptLosses(on: process.machine)
        }
        session.keychain = keychain
        world.statistics.mergedOffline += keychain.copies.offlineChanges?.changed.count ?? 0
        return keychain
    }

    func preferencesStore(of session: Session) -> Preferences {
        if let preferences = session.preferences { return preferences }
        let preferences = Preferences(
            .success(Simulation.preferencesPath), nil, FailureLog { _, _ in },
            in: SimulatedFileSystem(world: world, process: session.process))
        session.preferences = preferences
        return preferences
    }

    /// Returns what a store shows, with the names that it does not show.
    func texts(_ contents: [String: StoredValue], of model: Model) -> [String: String?] {
        var texts = [String: String?](uniqueKeysWithValues: model.names.map { ($0, nil) })
        for (name, value) in contents { texts.updateValue(value.text, forKey: name) }
        return texts
    }
}

extension StoredValue {
    /// A simulation stores texts alone.
    var text: String { if case .string(let text) = self { text } else { "not a text" } }
}
