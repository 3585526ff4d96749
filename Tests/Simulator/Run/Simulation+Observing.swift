import LinuxSystem
import Vault

/// What an observer shows.
///
/// Sendable although unchecked: see ``Scheduler``.
private final class Display: @unchecked Sendable {
    let attempt: Attempt
    /// nil during a look, and after one that failed.
    var contents: [String: StoredValue]? = [:]
    /// When the last look was over that took long: it waited for a lock.
    var slowUntil: Int64 = 0

    init(_ attempt: Attempt) { self.attempt = attempt }
}

extension Simulation {
    /// Follows a store as observers do: reads it once more whenever its file may have changed. Fails if what is shown
    /// is older than the rounds in which the file is looked at.
    func observe(_ attempt: Attempt) throws(VaultError) {
        let display = Display(attempt)
        let process = attempt.session.process
        let watch: FileWatch
        do {
            watch = try FileWatch(
                attempt.isVault ? location.vault : Simulation.preferencesPath,
                in: SimulatedFileSystem(world: world, process: process)
            ) { [unowned self] in look(display) }
        } catch { throw VaultError(.unavailable, "\(error)") }
        for _ in 0..<(1 + Int(attempt.operation.choices[0] * 4)) {
            // More than two rounds of a second.
            let start = attempt.model.tick()
            let clock = world.scheduler.clock
            let met = process.faultsMet
            world.scheduler.sleep(5_000_000_000)
            guard !process.isDead else { break }
            // It need not be up to date if it could not go on meanwhile, or if another file was at the path.
            let isHindered =
                process.stalledUntil > clock || world.scheduler.clock > clock + 6_000_000_000
                || display.slowUntil > clock || process.faultsMet != met
            guard !isHindered, let contents = display.contents, !isAttacked(attempt) else { continue }
            world.statistics.count(operation: "view", "current")
            let wrong = attempt.model.read(
                texts(contents, of: attempt.model), since: start, isDurable: false, isDisturbed: false)
            if let wrong { fail("an observer still shows that \(wrong)") }
        }
        withExtendedLifetime(watch) {}
    }

    private func look(_ display: Display) {
        let observing = display.attempt
        guard !observing.session.process.isDead else { return }
        let attempt = Attempt(observing.operation, of: observing.program, observing.session, in: self)
        let start = attempt.model.tick()
        display.contents = nil
        do throws(VaultError) {
            let contents =
                if attempt.isVault { try keychain(of: attempt.session).contents(prefix: "") } else {
                    try preferencesStore(of: attempt.session).contents(prefix: "")
                }
            take(texts(contents, of: attempt.model), attempt, since: start)
            display.contents = contents
        } catch {
            if !attempt.session.process.isDead { judge(error, of: attempt) }
        }
        if world.scheduler.clock > attempt.clock + 500_000_000 { display.slowUntil = world.scheduler.clock }
    }
}
