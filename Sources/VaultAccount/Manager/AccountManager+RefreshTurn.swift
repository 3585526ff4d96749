import FoundationEssentials
import Vault

// A server that rotates takes each refresh token once, and may end the session if it sees one twice. So of the processes and managers
// that share an account one at a time asks it, and the others wait for what that one gets.

extension AccountManager {
    /// Waits for the turn to refresh the tokens of a session.
    ///
    /// - Returns: false if there are others by now, or none: there is nothing to ask the server for.
    func takeTurn(_ holder: UUID, for session: Session) async throws(AccountError) -> Bool {
        let pause = Duration.milliseconds(50)
        // Counted as well: a clock may stand still.
        for _ in 0..<Int(RefreshTurn.length / pause) {
            switch try claimTurn(holder, for: session) {
            case .own: return true
            case .pointless: return false
            case .others: try? await options.sleep(pause)
            }
        }
        return try claimTurn(holder, for: session, evenOfOthers: true) == .own
    }

    private enum Claim { case own, others, pointless }

    private func claimTurn(
        _ holder: UUID, for session: Session, evenOfOthers: Bool = false
    ) throws(AccountError) -> Claim {
        let id = session.accountID
        var claim = Claim.pointless
        do throws(VaultError) {
            let vault = try vault()
            try vault.commit { (transaction) throws(VaultError) in
                claim = .pointless
                guard try transaction.read(vault.session(id))?.tokens == session.tokens else { return }
                claim = .others
                let turn = try transaction.read(vault.turn(id))
                // Only now: a turn that was taken meanwhile must not seem to be one of a clock that was set back.
                let now = options.now()
                guard evenOfOthers || turn?.isRunning(at: now) != true else { return }
                claim = .own
                try transaction.write(RefreshTurn(holder, from: now), to: vault.turn(id))
            }
        } catch { throw .store(error) }
        return claim
    }

    /// Lets the others try, after a refresh that came to nothing.
    func endTurn(_ holder: UUID, for session: Session) {
        // If this fails, the turn ends with its time.
        guard let vault = try? vault() else { return }
        try? vault.commit { (transaction) throws(VaultError) in
            guard try transaction.read(vault.turn(session.accountID))?.holder == holder else { return }
            try transaction.remove(vault.turn(session.accountID))
        }
    }
}
