private import Glibc
import LinuxSystem

/// A transaction that takes no lock: what it reads becomes an expectation, and what it writes is collected.
package protocol OptimisticTransaction: ~Copyable {
    /// Makes the changes; false, with nothing changed, if something that was read is no longer so.
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

/// Waits before what others have thwarted is tried again; throws ``VaultError/Code/busy`` when that takes too long. One
/// of the competitors always succeeds. It has seen the newest state then, and would often be the next one too: pauses
/// of random length are against that.
package struct Contention: ~Copyable {
    package static let patience: Duration = .seconds(10)

    private let deadline: Deadline
    private let longAt: Deadline
    private var attempts: UInt32 = 0

    init(patience: Duration = Contention.patience) {
        deadline = Deadline(after: patience)
        longAt = Deadline(after: patience / 10)
    }

    /// Among equals, each has succeeded long before.
    var isLong: Bool { longAt.hasPassed }

    mutating func pause() throws(VaultError) {
        guard !deadline.hasPassed else { throw .contended }
        attempts += 1
        // Short at first: a first failure is often the only one.
        Clock.sleep(microseconds: .random(in: 0...min(8_000, 32 << min(attempts, 8))))
    }
}

/// The turn of a thread that has failed for long. The other threads of this process give way to it.
private struct Turn: ~Copyable {
    /// The thread that has it; 0 if none has.
    private static let holder = Atomic<UInt>(0)

    private init() {}

    deinit { Turn.holder.store(0, ordering: .relaxed) }

    /// Returns nil if it is somebody's turn already.
    static func take() -> Turn? {
        let (isTaken, _) = holder.compareExchange(expected: 0, desired: pthread_self(), ordering: .relaxed)
        return isTaken ? Turn() : nil
    }

    /// Waits while it is another thread's turn, for up to a second: what that does may take much longer. A thread whose
    /// turn it is comes here as well: many a commit is a transaction of its own.
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
