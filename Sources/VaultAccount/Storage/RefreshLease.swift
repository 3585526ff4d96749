import FoundationEssentials
import Vault

/// Lets one holder at a time refresh the tokens of an account, among all managers and processes that share it.
///
/// A server that rotates tokens accepts each refresh token once, and may end the session if it sees one twice.
struct RefreshLease: Sendable {
    /// A holder that was killed delays the others for no longer than this.
    private static let length: Duration = .seconds(15)

    /// A lease as the vault keeps it.
    struct Record: StoredAsCodable, Sendable, Equatable {
        var holder: UUID
        var until: Date

        init(_ holder: UUID, from now: Date) {
            self.holder = holder
            until = now.addingTimeInterval(RefreshLease.length / .seconds(1))
        }

        func isRunning(at now: Date) -> Bool {
            // One that seems to end later was taken before the clock was set back.
            now < until && until <= Record(holder, from: now).until
        }
    }

    private enum Claim {
        case granted
        case heldByAnother(Record)
        case pointless
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
            switch try claim(ignoring: waited >= RefreshLease.length ? seen : nil) {
            case .granted: return true
            case .pointless: return false
            case .heldByAnother(let record):
                waited = record == seen ? waited + pause : .zero
                seen = record
            }
            try? await sleep(pause)
        }
    }

    /// - Parameter overdue: a lease that counts as ended.
    private func claim(ignoring overdue: Record?) throws(AccountError) -> Claim {
        do throws(VaultError) {
            let (vault, id) = (try storage.vault(), session.accountID)
            return try vault.store.atomically { (transaction) throws(VaultError) in
                guard try transaction.read(vault.session(id))?.tokens == session.tokens else { return .pointless }
                let record = try transaction.read(vault.lease(id))
                // Read the clock last: a lease taken in between must not look like one from before a clock was set
                // back.
                let now = now()
                if let record, record.holder != holder, record != overdue, record.isRunning(at: now) {
                    return .heldByAnother(record)
                }
                try transaction.write(Record(holder, from: now), to: vault.lease(id))
                return .granted
            }
        } catch { throw .store(error) }
    }

    /// Stores new tokens and ends the lease, in one commit.
    ///
    /// - Throws: ``AccountError/store(_:)``.
    func finish(with tokens: Tokens) throws(AccountError) {
        do throws(VaultError) {
            let vault = try storage.vault()
            try vault.store.atomically { (transaction) throws(VaultError) in
                try end(in: vault, &transaction)
                // Newer tokens of another process stay, and a logout stays. The account need not be the current one.
                let key = vault.session(session.accountID)
                guard var stored = try transaction.read(key), stored.tokens == session.tokens else { return }
                stored.tokens = tokens
                try transaction.write(stored, to: key)
            }
        } catch { throw .store(error) }
    }

    /// Lets others try, after a refresh without a result. If this fails, the lease ends by time.
    func release() {
        guard let vault = try? storage.vault() else { return }
        try? vault.store.atomically { (transaction) throws(VaultError) in try end(in: vault, &transaction) }
    }

    /// Ends the lease, unless another holder has it by now.
    private func end(in vault: AccountVault, _ transaction: inout StoreTransaction) throws(VaultError) {
        let key = vault.lease(session.accountID)
        if try transaction.read(key)?.holder == holder { try transaction.remove(key) }
    }
}
