import LinuxSystem
import Sealing

/// What an operation met that did not keep it from being done, and that a person should know.
package enum Notice: Hashable, Sendable {
    /// The rollback memory is there and cannot be used: which part of it, and why.
    case memoryUnusable(String)
    /// A compaction that was due has failed: what is dead stays in the file.
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

    /// Takes a notice up, unless it is known here already.
    func post(_ notice: Notice) {
        state.withLock { state in
            if state.posted.insert(notice).inserted { state.pending.append(notice) }
        }
    }

    /// Gives out what has been posted since the last time. Of the parts of a memory that cannot be used, the first says
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
