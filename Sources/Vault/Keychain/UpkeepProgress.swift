import SealedLog

/// How far a long call has come: hand it in, and look at it from another thread.
public final class UpkeepProgress: Sendable {
    let counter = WorkCounter()

    /// Of a call that has not begun.
    public init() {}

    /// The part that is done, from 0 to 1.
    public var fraction: Double {
        counter.total == 0 ? 0 : min(1, Double(counter.done) / Double(counter.total))
    }
}
