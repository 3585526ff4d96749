import FoundationEssentials
import Vault

/// Lets one holder at a time refresh the tokens of an account, among all managers and processes that share it.
///
/// A server that rotates tokens accepts each refresh token once, and may end the session if it sees one twice.
struct RefreshLease: Sendable {
    /// A holder that was killed delays the others for no longer than this.
    private static let length: Duration = .seconds(15)

    struct Record: StoredAsCodable, Sendable, Equatable {
        var holder: UUID
        var until: Date
    }

    let session: Session
    let storage: AccountStorage
    let now: @Sendable () -> Date
    let sleep: @Sendable (Duration) async throws -> Void
    private let holder = UUID()

    /// Waits for the lease, or renews it.
    ///
    /// - Returns: false if the account has other tokens by now, or none: there is nothing to ask the server for.
    /// - Throws: ``AccountError/store(_:)``.
    func acquire() async throws(AccountError) -> Bool {
        let pause = Duration.milliseconds(50)
        var (seen, waited) = (Record?.none, Duration.zero)
        while true {
            // The pauses are counted, too: a clock may stand still. The count begins anew when the lease is renewed.
            let overdue = waited >= RefreshLease.length ? seen : nil
            guard let record = try stored(claim(ignoring: overdue)) else { return false }
            if record.holder == holder { return true }
            waited = record == seen ? waited + pause : .zero
            seen = record
            try? await sleep(pause)
        }
    }

    /// Takes or renews the lease, unless another holder has it.
    ///
    /// - Returns: the lease as it is now; nil if the account has other tokens by now, or none.
    private func claim(ignoring overdue: Record?) throws(VaultError) -> Record? {
        let (vault, id) = (try storage.vault(), session.accountID)
        return try vault.store.atomically { (transaction) throws(VaultError) in
            guard try transaction.read(vault.session(id))?.tokens == session.tokens else { return nil }
            let record = try transaction.read(vault.lease(id))
            // Last: a lease taken in between must not look like one from before a clock was set back.
            let now = now()
            let end = now.addingTimeInterval(RefreshLease.length / .seconds(1))
            // One that ends later than a new one was taken before the clock was set back: it does not count.
            if let record, record.holder != holder, record != overdue, now < record.until, record.until <= end {
                return record
            }
            let own = Record(holder: holder, until: end)
            try transaction.write(own, to: vault.lease(id))
            return own
        }
    }

    /// Ends the lease, unless another holder has it by now, and stores new tokens, if any, in the same commit.
    func finish(with tokens: Tokens?) throws(VaultError) {
        let (vault, id) = (try storage.vault(), session.accountID)
        try vault.store.atomically { (transaction) throws(VaultError) in
            if try transaction.read(vault.lease(id))?.holder == holder { try transaction.remove(vault.lease(id)) }
            // Newer tokens of another process stay, and a logout stays. The account need not be the current one.
            guard let tokens, var stored = try transaction.read(vault.session(id)), stored.tokens == session.tokens
            else { return }
            stored.tokens = tokens
            try transaction.write(stored, to: vault.session(id))
        }
    }
}
