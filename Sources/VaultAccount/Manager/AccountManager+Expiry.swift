import FoundationEssentials
import Synchronization

// A login that becomes too old is a change of state that nothing but time brings about: observers are woken when it is due.

extension AccountManager {
    /// When a session ends by itself; nil if it does not.
    func end(of session: Session) -> Date? {
        let window = options.validity.map { session.loggedInAt.addingTimeInterval($0 / .seconds(1)) }
        let token = session.tokens.refresh == nil ? session.tokens.expires : nil
        return [window, token].compactMap { $0 }.min()
    }

    /// Wakes observers when the session ends; in place of the former one's end.
    func watchForEnd(of session: Session?) {
        let end = session.flatMap(end(of:))
        let watch = end.map { end in
            let remaining = Duration.seconds(max(0, end.timeIntervalSince(options.now())))
            return Task.detached { [weak self, sleep = options.sleep] in
                try? await sleep(remaining)
                guard !Task.isCancelled else { return }
                self?.note { _ in }
            }
        }
        let former = core.withLock { core in
            let former = core.expiry
            core.expiry = watch
            return former
        }
        former?.cancel()
    }
}
