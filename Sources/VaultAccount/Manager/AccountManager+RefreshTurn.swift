import FoundationEssentials
import Vault

// A server that rotates takes each refresh token once, and may end the session if it sees one twice. So of the processes and managers
// that share an account one at a time asks it, and the others wait for what that one gets.

extension AccountManager {
    /// Waits for the turn to refresh the tokens of a session, or renews it.
    ///
    /// - Returns: false if there are other tokens by now, or none: there is nothing to ask the server for.
    func takeTurn(_ holder: UUID, for session: Session) async throws(AccountError) -> Bool {
        let pause = Duration.milliseconds(50)
        var (seen, waited) = (RefreshTurn?.none, Duration.zero)
        while true {
            // Counted as well: a clock may stand still. A turn that is renewed is counted anew.
            let overdue = waited >= RefreshTurn.length ? seen : nil
            switch try claimTurn(holder, for: session, orAfter: overdue) {
            case .own: return true
            case .pointless: return false
            case .others(let turn):
                waited = turn == seen ? waited + pause : .zero
                seen = turn
            }
            try? await options.sleep(pause)
        }
    }

    private enum Claim {
        case own
        case others(RefreshTurn)
        case pointless
    }

    /// - Parameter overdue: a turn that counts as ended.
    private func claimTurn(
        _ holder: UUID, for session: Session, orAfter overdue: RefreshTurn?
    ) throws(AccountError) -> Claim {
        let id = session.accountID
        var claim = Claim.pointless
        do throws(VaultError) {
            let vault = try vault()
            try vault.commit { (transaction) throws(VaultError) in
                claim = .pointless
                guard try transaction.read(vault.session(id))?.tokens == session.tokens else { return }
                let turn = try transaction.read(vault.turn(id))
                // Only now: a turn that was taken meanwhile must not seem to be one of a clock that was set back.
                let now = options.now()
                if let turn, turn.holder != holder, turn != overdue, turn.isRunning(at: now) {
                    claim = .others(turn)
                    return
                }
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
            try vault.endTurn(holder, of: session.accountID, &transaction)
        }
    }
}

extension AccountVault {
    /// Ends a turn, unless it has passed to someone else.
    func endTurn(_ holder: UUID, of id: String, _ transaction: inout StoreTransaction) throws(VaultError) {
        guard try transaction.read(turn(id))?.holder == holder else { return }
        try transaction.remove(turn(id))
    }
}
