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

    /// Wakes observers when the session that is known ends; in place of the former one's end.
    func watchForEnd(of known: Core.Known) {
        var end: Date?
        if case .session(let session) = known { end = self.end(of: session) }
        let watch = end.map { end in
            Task.detached { [weak self, options] in
                await options.wait(until: end)
                guard !Task.isCancelled else { return }
                self?.tell()
            }
        }
        let former = core.withLock { core in
            // Who has applied another one meanwhile watches for the end of that.
            guard core.known == known else { return watch }
            let former = core.expiry
            core.expiry = watch
            return former
        }
        former?.cancel()
    }
}

extension AccountManager.Options {
    /// Waits for a time by the clock. The clock may be set while it sleeps, and a time may be far beyond what a sleep can hold: so it
    /// sleeps for an hour at most, and looks again.
    fileprivate func wait(until end: Date) async {
        while !Task.isCancelled {
            let before = now()
            let remaining = end.timeIntervalSince(before)
            guard remaining > 0 else { return }
            try? await sleep(.seconds(min(remaining, 3_600)))
            // A clock that stands still, or is set back, is not to be asked without a pause.
            if now() <= before { try? await Task.sleep(for: .seconds(1)) }
        }
    }
}
