import LinuxSystem
import SealedFormat

extension VaultError {
    init(_ notice: Notice, _ location: VaultLocation) {
        let vault = location.vault
        switch notice {
        case .memoryUnusable(let reason):
            self.init(
                .unavailable,
                "Some of what this machine has recorded about the vault is unusable: \(reason). "
                    + "Until that is fixed, an older or different vault file may go unnoticed.")
        case .copyKept(let path, let isComplete):
            self.init(
                .unavailable,
                "The vault \(vault) lacks data that this machine's local copy had. The copy was saved in \(path).",
                causes: [.copyKept(path, isComplete: isComplete)])
        case .offline(let since, let reason):
            let age = Duration.milliseconds(Int64(clamping: Clock.milliseconds - min(since, Clock.milliseconds)))
            self.init(
                .unavailable,
                (reason.map { $0 + " " } ?? "")
                    + "The vault \(vault) is shown from this machine's copy, which is \(age.inWords) old.")
        case .changedApart:
            self.init(
                .unavailable,
                "The change is only on this machine. It will be stored in \(vault) once the server can be reached.")
        case .clockDiffers(let milliseconds):
            self.init(
                .unavailable,
                "This machine's clock is \(ClockDifference.words(milliseconds)) the server's (\(vault)). Correct the "
                    + "wrong clock. Values expire by the clock, and if two copies were changed, the later change "
                    + "wins.")
        case .compactionFailed(let error) where error.code == .damaged:
            self.init(
                .damaged,
                "The vault \(vault) is damaged and cannot be compacted: \(error.detail). Outdated "
                    + "values stay in the file until it is restored from a backup or salvaged.",
                causes: [.damagedVault(vault)])
        case .compactionFailed(let error):
            let isTold = [.unavailable, .unreachable, .serverRefused, .usedUp].contains(error.code)
            let reason = isTold ? " (\(VaultError(error, location).message.dropLast()))" : ""
            self.init(
                .unavailable,
                "The vault \(vault) could not be compacted\(reason). Outdated values stay in the file "
                    + "until a compaction succeeds.", systemError: error.systemError,
                causes: error.code == .usedUp ? [.usedUpVault(vault)] : [])
        }
    }
}

package enum ClockDifference {
    /// A notice is posted if the clocks of this machine and the server differ by more than this many milliseconds.
    package static let tolerance: Int64 = 60_000

    /// Returns a phrase such as "5 years ahead of" or "2 minutes behind".
    package static func words(_ milliseconds: Int64) -> String {
        Duration.milliseconds(abs(milliseconds)).inWords + (milliseconds > 0 ? " ahead of" : " behind")
    }
}

extension Duration {
    /// The duration in the largest unit that fits, such as "3 minutes".
    fileprivate var inWords: String {
        let seconds = components.seconds
        let units = [(31_557_600, "year"), (86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")]
        guard let (unit, name) = units.first(where: { seconds >= $0.0 }) else { return "a moment" }
        let count = seconds / Int64(unit)
        return "\(count) \(name)\(count == 1 ? "" : "s")"
    }
}
