private import Glibc
import LinuxSystem

/// A transaction that takes no lock: what it reads becomes an expectation, and what it writes is collected.
package protocol OptimisticTransaction: ~Copyable {
    /// Makes the changes. Returns false, with nothing changed, if a value that was read has changed.
    consuming func commit() throws(VaultError) -> Bool
}

extension OptimisticTransaction where Self: ~Copyable {
    /// Runs `body` on new transactions until one commits. `error` converts an error of the store to what this throws.
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

/// Waits before a transaction that failed by contention runs again. Throws ``VaultError/Code/busy`` if that takes too
/// long. One of the competitors always succeeds. It then has the newest state and would often win again, which pauses
/// of random length prevent.
package struct Contention: ~Copyable {
    package static let patience: Duration = .seconds(10)

    private let deadline: Deadline
    private let longAt: Deadline
    private var attempts: UInt32 = 0

    init(patience: Duration = Contention.patience) {
        deadline = Deadline(after: patience)
        longAt = Deadline(after: patience / 10)
    }

    /// Under fair contention, each transaction has succeeded long before this.
    var isLong: Bool { longAt.hasPassed }

    mutating func pause() throws(VaultError) {
        guard !deadline.hasPassed else { throw .contended }
        attempts += 1
        // The first pauses are short, since a first failure is often the only one.
        Clock.sleep(microseconds: .random(in: 0...min(8_000, 32 << min(attempts, 8))))
    }
}

/// The turn of a thread that has failed for long. The other threads of this process wait for it.
private struct Turn: ~Copyable {
    /// The thread that has the turn; 0 if none has.
    private static let holder = Atomic<UInt>(0)

    private init() {}

    deinit { Turn.holder.store(0, ordering: .relaxed) }

    static func take() -> Turn? {
        let (isTaken, _) = holder.compareExchange(expected: 0, desired: pthread_self(), ordering: .relaxed)
        return isTaken ? Turn() : nil
    }

    /// Waits while it is another thread's turn, for up to a second: that thread's transaction may take much longer. The
    /// thread that has the turn calls this too, since a commit can be a transaction of its own.
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
