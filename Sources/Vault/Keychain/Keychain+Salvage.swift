import SealedLog

/// What was found in a damaged vault, in the order of trust. Every name stands in one place, and every value is
/// authentic.
public struct Salvage: Hashable, Sendable {
    /// Names whose value is the last that they had.
    public let certain: Int
    /// Names whose value is one that they had, but whose last change may be lost.
    public let doubtful: [String]
    /// Names whose last value is lost, with an earlier one in its place.
    public let older: [String]
    /// Names of which no value is left.
    public let lost: [String]
    /// How many names more are lost, as far as is known; nil if nothing says how many there were.
    public let unnamed: Int?
    /// What is damaged: parts of sentences.
    public let damage: [String]
    /// Whether the new vault holds all that the damaged one did.
    public let isComplete: Bool

    init(_ report: SalvageReport) {
        certain = Int(clamping: report.certain)
        doubtful = report.doubtful
        older = report.older
        lost = report.lost
        unnamed = report.unnamed.map { Int(clamping: $0) }
        damage = report.damage
        isComplete = report.isComplete
    }
}

extension Keychain {
    /// Copies what is whole of a damaged vault into a new one. The damaged file is only read.
    ///
    /// The new vault has an id and keys of its own, under the same key file. In the place of the old one it is another
    /// vault for a machine that remembers the old one: it is accepted once with ``Options/acceptedAlarms``. Whether a
    /// value may be out of date is judged by what is lost, and by what this machine remembers of the vault.
    ///
    /// - Parameters:
    ///   - places: of the damaged vault.
    ///   - target: the path of the new vault.
    ///   - progress: tells another thread how far it has come.
    /// - Throws: ``VaultError`` with `noVault`, `gone`; `locked` if the key opens none of the slots that are left;
    ///   `damaged` if nothing but a slot is left; `newerFormat`; `exists` if there is something at the target; `busy`,
    ///   `unavailable`.
    public static func salvage(
        from places: VaultPlaces, to target: String, options: Options = Options(), progress: UpkeepProgress? = nil
    ) throws(VaultError) -> Salvage {
        Salvage(try KeychainOpening(places, options).salvage(to: target, progress))
    }
}
