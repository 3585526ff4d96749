private import Glibc
import LinuxSystem

/// A transaction without a lock. Its writes are collected, and committed only if the values it read are unchanged.
package protocol OptimisticTransaction: ~Copyable {
    /// Commits the changes. Returns false and changes nothing if a value has changed since the transaction read it.
    consuming func commit() throws(VaultError) -> Bool
}

extension OptimisticTransaction where Self: ~Copyable {
    /// Runs `body` with new transactions until one commits. `error` converts a store's error to a `Failure`.
    package static func run<Result, Failure: Error>(
        _ begin: () -> Self, patience: Duration = Contention.patience, rethrowing error: (VaultError) -> Failure,
        _ body: (inout Self) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var contention = Contention(patience: patience)
        var turn: Turn?
        while true {
            Turn.giveWay()
            var transaction = begin()
            let result = try body(&transaction)
            do throws(VaultError) {
                if try transaction.commit() { return result }
                try contention.pause()
            } catch let failure { throw error(failure) }
            if turn == nil, contention.isLong { turn = Turn.take() }
        }
    }
}

/// The pauses between the attempts of a transaction under contention. One of the competing transactions always commits.
/// Its thread then has the newest state and would often win again, so the pauses have random lengths. If the attempts
/// take too long, `pause()` throws ``VaultError/Code/busy``.
package struct Contention: ~Copyable {
    package static let patience: Duration = .seconds(10)

    private let deadline: Deadline
    private let longAt: Deadline
    private var attempts: UInt32 = 0

    init(patience: Duration = Contention.patience) {
        deadline = Deadline(after: patience)
        longAt = Deadline(after: patience / 10)
    }

    /// Whether a tenth of the time limit has passed. The transaction then tries to take a ``Turn`` before it retries.
    var isLong: Bool { longAt.hasPassed }

    mutating func pause() throws(VaultError) {
        guard !deadline.hasPassed else { throw .contended }
        attempts += 1
        // The first pauses are short, since the first failure is often the only one.
        Clock.sleep(microseconds: .random(in: 0...min(8_000, 32 << min(attempts, 8))))
    }
}

/// The turn of a thread whose transaction keeps failing. This process's other threads wait before their attempts.
private struct Turn: ~Copyable {
    /// The thread that has the turn; 0 if no thread has it.
    private static let holder = Atomic<UInt>(0)

    private init() {}

    deinit { Turn.holder.store(0, ordering: .relaxed) }

    static func take() -> Turn? {
        let (isTaken, _) = holder.compareExchange(expected: 0, desired: pthread_self(), ordering: .relaxed)
        return isTaken ? Turn() : nil
    }

    /// Waits while another thread has the turn, but for at most a second, since that thread's transaction may take much
    /// longer. The thread that has the turn never waits, even if its commit runs another transaction.
    static func giveWay() {
        guard isOfAnother else { return }
        let deadline = Deadline(after: .seconds(1))
        while isOfAnother, !deadline.hasPassed { Clock.sleep(microseconds: 1_000) }
    }

    private static var isOfAnother: Bool {
        let thread = holder.load(ordering: .relaxed)
        return thread != 0 && thread != pthread_self()
    }
}
