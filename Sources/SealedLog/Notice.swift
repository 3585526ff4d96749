import LinuxSystem
import Sealing

/// A problem that did not keep an operation from succeeding, and that the user should know.
package enum Notice: Hashable, Sendable {
    /// A part of the rollback memory exists and cannot be used: which one, and why.
    case memoryUnusable(String)
    /// A compaction that was due has failed: dead bytes stay in the file.
    case compactionFailed(LogError)

    fileprivate var isOfMemory: Bool {
        if case .memoryUnusable = self { true } else { false }
    }
}

/// Gathers notices until they can be told: no outside code is called while a lock is held.
final class NoticeBoard: Sendable {
    private struct State {
        var pending: [Notice] = []
        var posted: Set<Notice> = []
    }

    private let state = Mutex(State())

    /// Adds a notice, unless it was posted here before.
    func post(_ notice: Notice) {
        state.withLock { state in
            if state.posted.insert(notice).inserted { state.pending.append(notice) }
        }
    }

    /// Returns what has been posted since the last time. Of the parts of a memory that cannot be used, the first is
    /// enough.
    func take() -> [Notice] {
        let pending = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        let firstOfMemory = pending.firstIndex(where: \.isOfMemory)
        return pending.indices.filter { $0 == firstOfMemory || !pending[$0].isOfMemory }.map { pending[$0] }
    }
}
