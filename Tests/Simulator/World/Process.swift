import LinuxSystem

/// A process of a simulation.
final class Process: @unchecked Sendable {
    let id: Int32
    /// In its world.
    let number: Int
    let machine: Int
    var isDead = false
    /// Until when none of its threads goes on.
    var stalledUntil: Int64 = 0
    /// How large its files may grow, in bytes, as by setrlimit(2).
    var sizeLimit: Int?
    /// Calls that are still to fail, by kind.
    var failing: [Failing: Int] = [:]
    /// What its next flush of the vault takes before it succeeds or fails.
    var hang: Hang?
    /// Whether it has written a record and not flushed it.
    var hasUnflushedRecord = false
    /// Its end, which a flush of the vault or of its folder decides.
    var end: End?
    /// The end that was decided, and after how many calls it comes.
    private var nextEnd: End?
    /// How many of its calls have failed.
    var faultsMet = 0
    /// How many of them were to read what its machine remembers.
    var memoryFaultsMet = 0
    /// When it lost a connection last.
    var connectionLostAt: Int64?
    /// Its connections are to be cut after some flights: with the next one, or with its answer.
    var cut: (flights: Int, losesAnswer: Bool)?

    enum Failing: CaseIterable { case flush, folderFlush, vaultFlush, vaultFolderFlush, write, read, open, rename }

    /// A flush that takes long.
    struct Hang {
        let nanoseconds: Int64
        /// How long the process stands still afterwards.
        let pause: Int64
        let isFailing: Bool
        /// What happens to other processes meanwhile; see ``Simulation/besetOthers(than:_:)``.
        let choices: [Double]
    }

    /// A kill or a power loss.
    struct End {
        /// How many flushes there are before.
        var flushes: Int
        /// How many calls the process still makes after the flush; 0: it ends during the flush.
        var calls: Int
        let isPowerLoss: Bool
    }

    init(_ id: Int32, number: Int, _ machine: Int) {
        self.id = id
        self.number = number
        self.machine = machine
    }

    /// Whether a call of this kind fails now.
    func takeFailure(_ kind: Failing) -> Bool {
        guard let count = failing[kind], count > 0 else { return false }
        failing[kind] = count - 1
        faultsMet += 1
        return true
    }

    /// Notes that a flush has begun.
    func beginFlush() {
        guard let end else { return }
        if end.flushes > 0 {
            self.end?.flushes -= 1
        } else {
            nextEnd = end
            self.end = nil
        }
    }

    /// Returns whether the process ends now, and how.
    func takeEnd() -> End? {
        guard let end = nextEnd else { return nil }
        guard end.calls > 0 else {
            nextEnd = nil
            return end
        }
        nextEnd?.calls -= 1
        return nil
    }
}
