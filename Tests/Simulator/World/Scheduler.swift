import CSimulator
import Dispatch
import Glibc
import LinuxSystem
import TestSupport

/// Runs threads one at a time. Before each call that concerns others, a seeded choice says which thread goes on.
///
/// Sendable although unchecked, as all that a simulation consists of: only the thread whose turn it is touches it, and
/// turns are passed on by semaphores.
final class Scheduler: @unchecked Sendable {
    final class Thread {
        enum State {
            case ready, finished
            /// Waits for a mutex of its process. It was taken still when others had had so many turns.
            case blocked(turns: Int)
            case sleeping(until: Int64)
            /// Waits for a server.
            case waiting(until: Int64, isOver: () -> Bool)
        }

        let process: Process
        /// Released before the turn is passed on: with it goes what the thread alone has open.
        var body: (() -> Void)?
        let number: Int
        var state = State.ready
        let turn = DispatchSemaphore(value: 0)

        init(_ number: Int, _ process: Process, _ body: @escaping () -> Void) {
            self.number = number
            self.process = process
            self.body = body
        }
    }

    /// Nanoseconds since the simulation began.
    private(set) var clock: Int64 = 0
    private(set) var steps = 0
    private(set) var current: Thread?
    /// Called at each step, on the thread whose turn it is.
    var onStep: () -> Void = {}
    /// Called before another thread has its turn.
    var onTurn: () -> Void = {}
    private(set) var failure: String?
    private var generator: SeededGenerator
    private var threads: [Thread] = []
    private let end = DispatchSemaphore(value: 0)
    /// How likely a thread keeps its turn, and how long a step takes at most, in nanoseconds.
    private let persistence: Double
    private let longestStep: Int64
    /// How many turns there were of threads that waited for no mutex, and how many of others since.
    private var turns = 0
    private var idlePasses = 0
    private var lastThread = 0

    private static let mostSteps = 400_000

    init(_ seed: Int) {
        generator = SeededGenerator(seed)
        persistence = [0, 0.3, 0.7, 0.9, 0.97][Int.random(in: 0..<5, using: &generator)]
        longestStep = [1_000, 50_000, 2_000_000][Int.random(in: 0..<3, using: &generator)]
    }

    /// Adds a thread, which runs when its turn comes.
    func start(_ process: Process, _ body: @escaping () -> Void) throws(SystemError) {
        lastThread += 1
        let thread = Thread(lastThread, process, body)
        threads.append(thread)
        // The thread itself is a real one.
        let isInside = vault_simulation_enter(0)
        defer { vault_simulation_enter(isInside) }
        try startDetachedThread(named: "simulated") { [self, thread = Unchecked(thread)] in
            let thread = thread.value
            thread.turn.wait()
            vault_simulation_enter(1)
            thread.body?()
            thread.body = nil
            vault_simulation_enter(0)
            thread.state = .finished
            pass(from: thread)
        }
    }

    /// Runs all threads to their ends.
    func run() {
        guard let first = next() else { return }
        current = first
        first.turn.signal()
        end.wait()
    }

    /// Stops the simulation because something is wrong: all processes are to end.
    func fail(_ reason: String) {
        if failure == nil { failure = reason }
    }

    // MARK: On the threads

    /// Lets another thread have its turn, perhaps.
    func step() {
        guard let thread = current, !thread.process.isDead else { return }
        steps += 1
        clock += Int64.random(in: 0...longestStep, using: &generator)
        if steps > Scheduler.mostSteps { fail("it does not end") }
        onStep()
        pass(from: thread)
    }

    func sleep(_ nanoseconds: Int64) {
        guard let thread = current, !thread.process.isDead else { return }
        thread.state = .sleeping(until: clock + nanoseconds)
        step()
    }

    /// Sleeps. Threads of a killed process that wait for changes end once the others are done with them.
    func pause(_ nanoseconds: Int64) {
        if current?.process.isDead == true { waitForMutex() } else { sleep(nanoseconds) }
    }

    /// Waits until something is so.
    func wait(until time: Int64, _ isOver: @escaping () -> Bool) {
        guard let thread = current, !thread.process.isDead else { return }
        thread.state = .waiting(until: time, isOver: isOver)
        pass(from: thread)
    }

    /// Starts a thread in the process of the present one. Returns an error number if that fails.
    func startThread(
        _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
        _ argument: UnsafeMutableRawPointer?
    ) -> Int32 {
        guard let process = current?.process else { return EAGAIN }
        do { try start(process) { _ = body(argument) } } catch { return error.number }
        return 0
    }

    func waitForMutex() {
        guard let thread = current else { return }
        thread.state = .blocked(turns: turns)
        idlePasses += 1
        if idlePasses > 10_000 { fail("threads wait for one another") }
        pass(from: thread)
    }

    private func pass(from thread: Thread) {
        if !isBlocked(thread) {
            turns += 1
            idlePasses = 0
        }
        onTurn()
        guard let next = next() else {
            current = nil
            end.signal()
            return
        }
        next.state = .ready
        current = next
        guard next !== thread else { return }
        next.turn.signal()
        if case .finished = thread.state { return }
        // The turns are real: Dispatch waits through calls that are simulated otherwise.
        let isInside = vault_simulation_enter(0)
        thread.turn.wait()
        vault_simulation_enter(isInside)
    }

    /// Chooses the next thread; nil if all have finished.
    private func next() -> Thread? {
        threads.removeAll { if case .finished = $0.state { true } else { false } }
        guard !threads.isEmpty else { return nil }
        // What a killed process still does, it does at once and in vain.
        if let dying = threads.first(where: { $0.process.isDead && !isBlocked($0) }) { return dying }
        while true {
            let ready = threads.filter { isReady($0) }
            if let current, ready.contains(where: { $0 === current }), case .ready = current.state,
                Double.random(in: 0..<1, using: &generator) < persistence
            {
                return current
            }
            let unblocked = ready.filter { !isBlocked($0) }
            let isMutexTried = Int.random(in: 0..<4, using: &generator) == 0
            if let chosen = (isMutexTried ? ready : unblocked).randomElement(using: &generator) { return chosen }
            // No time goes by before each has seen whether its mutex is free.
            if let untried = ready.filter({ !hasTried($0) }).randomElement(using: &generator) { return untried }
            let times = threads.compactMap { wakes($0) }.filter { $0 > clock }
            if let earliest = times.min() { clock = earliest } else if let any = ready.first { return any }
        }
    }

    private func isReady(_ thread: Thread) -> Bool { wakes(thread).map { $0 <= clock } ?? true }

    private func isBlocked(_ thread: Thread) -> Bool { if case .blocked = thread.state { true } else { false } }

    private func hasTried(_ thread: Thread) -> Bool {
        if case .blocked(turns) = thread.state { true } else { false }
    }

    /// When a thread that waits for time goes on; nil if it does not.
    private func wakes(_ thread: Thread) -> Int64? {
        let stalled = thread.process.stalledUntil
        switch thread.state {
        case .sleeping(let time): return max(time, stalled)
        case .waiting(let time, let isOver) where !isOver(): return max(time, stalled)
        default: break
        }
        return stalled > clock ? stalled : nil
    }
}

/// Carries what is not Sendable to another thread, where the scheduler's turns keep uses apart.
private struct Unchecked<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
