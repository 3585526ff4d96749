private import Glibc
import LinuxSystem
import SealedLog

// Translates the log's errors, once, to what a person can act on. The library's users and the command's read these
// sentences, so they name no option or command; the command adds its own hints.

extension VaultError {
    /// - Parameter places: the vault and the key file that were used.
    init(_ error: LogError, _ places: VaultPlaces) {
        let (vault, key) = (places.vault, places.keyFile)
        switch error.code {
        case .missing: self.init(.noVault, "There is no vault at \(vault).")
        case .gone: self.init(.gone, "The vault at \(vault) is gone. Restore it, or mount its disk.")
        case .notAFile:
            self.init(.unavailable, "The vault \(vault) is \(error.detail), not a file. Name the vault file itself.")
        case .exists:
            self.init(.exists, "\(error.detail.isEmpty ? vault : error.detail) already exists; it was left alone.")
        case .invalid: self.init(.invalid, "Not possible: \(error.detail).")
        case .keyMissing, .keyUnreadable, .keyExposed, .keyShared, .keyDamaged, .keyUnsuitable, .keyWrong:
            self.init(key: error, key, vault)
        case .damaged:
            self.init(
                .damaged,
                "The vault \(vault) is damaged or was tampered with: \(error.detail). Nothing is written to it. "
                    + "Restore it from a backup, or salvage what is intact.")
        case .newerFormat:
            self.init(
                .newerFormat,
                "The vault \(vault) has a later format (\(error.detail)). A later version of this program can read it.")
        case .rolledBack:
            self.init(
                .rolledBack,
                "\(vault) is an older copy: it ends at \(error.detail). If you restored it yourself, accept it.")
        case .diverged:
            self.init(
                .diverged,
                "\(vault) has another history than the one this machine remembers: \(error.detail) differs. "
                    + "If that is right, accept it.")
        case .exchanged:
            self.init(
                .exchanged,
                "\(vault) is a different vault from the one this machine remembers there. "
                    + "If you put it there yourself, accept it.")
        case .busy: self = .held(error.detail)
        case .unavailable: self.init(refused: error.detail, error.systemError ?? 0)
        case .outcomeUnknown:
            self.init(
                .outcomeUnknown,
                "The disk failed while \(vault) was written: the last change may or may not last. "
                    + "Check the disk, then verify the vault.", systemError: error.systemError)
        case .conflict: self = .contended
        case .outOfMemory: self.init(.unavailable, "There is no guarded memory left for keys and values.")
        }
    }

    private init(key error: LogError, _ key: String, _ vault: String) {
        var cause: Cause?
        let sentence: String
        switch error.code {
        case .keyMissing:
            cause = .keyFileMissing
            sentence = "The key file \(key) is missing. Restore it from its backup."
        case .keyUnreadable where error.systemError == EINVAL:
            sentence = "The key file \(key) is not a regular file. Name one that is."
        case .keyUnreadable:
            let advice = error.systemError == EACCES ? " Check its owner and mode." : ""
            sentence =
                "The key file \(key) cannot be read (\(SystemError.words(for: error.systemError ?? 0))).\(advice)"
        case .keyExposed:
            sentence = "The key file \(key) is open to others. Fix it with `chmod 600 \(key)` (as its owner)."
        case .keyShared:
            cause = .keyFileShared
            sentence =
                "The key file \(key) belongs to root, but others can read it, or change the path to it. "
                + "Fix it with `chmod 600 \(key)` (as root), or accept it as it is."
        case .keyDamaged: sentence = "The key file \(error.detail). Restore it from its backup."
        case .keyUnsuitable:
            sentence = "The key file \(error.detail). Name another one, or restore the right one from its backup."
        default:
            sentence =
                "The key file \(key) does not open \(vault): it is another vault's key, or the key slot is damaged."
        }
        self.init(.locked, sentence, systemError: error.systemError, cause: cause)
    }

    /// What prevents no call, but should be known.
    init(_ notice: Notice, _ places: VaultPlaces) {
        let vault = places.vault
        switch notice {
        case .memoryUnusable(let reason):
            self.init(
                .unavailable,
                "What this machine remembers of the vault cannot be used in full: \(reason). "
                    + "Until that is fixed, an older or exchanged vault file may pass unnoticed.")
        case .compactionFailed(let error) where error.code == .damaged:
            self.init(
                .damaged,
                "The vault \(vault) is damaged and cannot be compacted: \(error.detail). Removed and replaced values "
                    + "stay in the file until it is restored from a backup or salvaged.")
        case .compactionFailed(let error):
            let reason = error.code == .unavailable ? " (\(VaultError(error, places).message.dropLast()))" : ""
            self.init(
                .unavailable,
                "The vault \(vault) could not be compacted\(reason). Removed and replaced values stay in the file "
                    + "until the next try.",
                systemError: error.systemError)
        }
    }
}
