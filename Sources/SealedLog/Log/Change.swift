import LinuxSystem

/// A transaction on its way into the log.
final class PendingCommit: Sendable {
    let changes: [Change]
    let deadline: Deadline
    private let outcome = Mutex<Result<Void, LogError>?>(nil)

    init(_ changes: [Change], deadline: Deadline) {
        self.changes = changes
        self.deadline = deadline
    }

    var result: Result<Void, LogError>? {
        outcome.withLock { $0 }
    }

    func finish(_ result: Result<Void, LogError>) {
        outcome.withLock { $0 = $0 ?? result }
    }
}
