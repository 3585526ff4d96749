import FoundationEssentials
import Vault

/// Whose turn it is to refresh the tokens of an account.
struct RefreshTurn: StoredAsCodable, Sendable, Equatable {
    /// Who was killed during a turn holds the others up for no longer than this.
    static let length: Duration = .seconds(15)

    var holder: UUID
    var until: Date

    init(_ holder: UUID, from now: Date) {
        self.holder = holder
        until = now.addingTimeInterval(RefreshTurn.length / .seconds(1))
    }

    func isRunning(at now: Date) -> Bool {
        // One that seems to end later was taken before the clock was set back.
        now < until && until <= RefreshTurn(holder, from: now).until
    }
}
