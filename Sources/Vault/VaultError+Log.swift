private import Glibc
import LinuxSystem
import SealedLog

// What goes wrong below is told here, once, as a sentence that names what mends it.

extension VaultError {
    /// - Parameter places: the vault and the key file that were used.
    init(_ error: LogError, _ places: VaultPlaces) {
        let (vault, key) = (places.vault, places.keyFile)
        switch error.code {
        case .missing:
            self.init(.noVault, "There is no vault at \(vault); `vault init` makes one.")
        case .gone:
            self.init(
                .gone,
                "The vault that was at \(vault) is gone. Put it back, mount its disk, or run `vault init` to start a new one."
            )
        case .notAFile:
            self.init(.unavailable, "The vault \(vault) is \(error.detail), not a file; name the vault file itself.")
        case .exists:
            self.init(.exists, "There is something at \(error.detail.isEmpty ? vault : error.detail) already.")
        case .invalid: self.init(.invalid, "That cannot be done: \(error.detail).")
        case .keyMissing, .keyUnreadable, .keyExposed, .keyShared, .keyDamaged, .keyUnsuitable, .keyWrong:
            self.init(key: error, key, vault)
        case .damaged:
            self.init(
                .damaged,
                "The vault \(vault) is damaged or was tampered with: \(error.detail). Restore it from a backup, or let "
                    + "`vault salvage` copy what is whole into a new one; nothing is written to it.")
        case .newerFormat:
            self.init(
                .newerFormat,
                "The vault \(vault) has a later format (\(error.detail)); a later version of this program reads it.")
        case .rolledBack, .diverged, .exchanged: self.init(alarm: error, vault)
        case .busy:
            self.init(.busy, "Another process holds \(error.detail); try again when it is done.")
        case .unavailable: self.init(system: error)
        case .outcomeUnknown:
            self.init(
                .outcomeUnknown,
                "The disk failed while \(vault) was written, so the last change may or may not last; "
                    + "check the disk, then run `vault verify`.", systemError: error.systemError)
        case .conflict: self = .contended
        case .outOfMemory:
            self.init(.unavailable, "There is no guarded memory left for keys and values.")
        }
    }

    /// Others changed what was read each time before it could be written.
    static let contended = VaultError(.busy, "Others kept changing the same names; try again.")

    private init(key error: LogError, _ key: String, _ vault: String) {
        let sentence =
            switch error.code {
            case .keyMissing:
                "The key file \(key) is missing; put it back from its backup, or name another with --key-file."
            case .keyUnreadable where error.systemError == EINVAL:
                "The key file \(key) is not a regular file; name one that is."
            case .keyUnreadable where error.systemError == EACCES:
                "The key file \(key) cannot be read (\(SystemError.words(for: EACCES))); check who owns it and its mode."
            case .keyUnreadable:
                "The key file \(key) cannot be read (\(SystemError.words(for: error.systemError ?? 0)))."
            case .keyExposed:
                "The key file \(key) is open to others; `chmod 600 \(key)` as its owner mends it."
            case .keyShared:
                "The key file \(key) is root's, but others can read it, or lead to it; run `chmod 600 \(key)` as root, or accept it as it is "
                    + "with --accept-shared-key."
            case .keyDamaged:
                "The key file \(error.detail); put it back from its backup."
            case .keyUnsuitable:
                "The key file \(error.detail); name another one, or put the right one back from its backup."
            default:
                "The key file \(key) does not open \(vault): it is another vault's key, or the key slot is damaged."
            }
        self.init(.locked, sentence, systemError: error.systemError)
    }

    private init(alarm error: LogError, _ vault: String) {
        switch error.code {
        case .rolledBack:
            self.init(
                .rolledBack,
                "The vault \(vault) is older than it was (it ends with \(error.detail)). "
                    + "If you put it back yourself, run the command once with --accept-rolled-back.")
        case .diverged:
            self.init(
                .diverged,
                "The vault \(vault) has another history than the one seen here (\(error.detail) differs). "
                    + "If that is right, run the command once with --accept-diverged.")
        default:
            self.init(
                .exchanged,
                "Another vault lies at \(vault) than the one seen there. "
                    + "If you put it there yourself, run the command once with --accept-exchanged.")
        }
    }

    /// What keeps no call from being done, and should be known.
    init(_ notice: Notice, _ places: VaultPlaces) {
        switch notice {
        case .memoryUnusable(let reason):
            self.init(
                .unavailable,
                "This machine's memory of the vault cannot be used in full: \(reason). "
                    + "Until that is fixed, an older copy of the vault, or another in its place, may pass unnoticed.")
        case .compactionFailed(let error) where error.code == .damaged:
            self.init(
                .damaged,
                "The vault \(places.vault) is damaged and cannot be compacted: \(error.detail). "
                    + "Values that were removed or replaced stay in the file until it is restored from a backup, or copied by "
                    + "`vault salvage`."
            )
        case .compactionFailed(let error):
            let reason = error.code == .unavailable ? " (\(VaultError(error, places).message.dropLast()))" : ""
            self.init(
                .unavailable,
                "The vault \(places.vault) could not be compacted\(reason). "
                    + "Values that were removed or replaced stay in the file until the next try.",
                systemError: error.systemError)
        }
    }

    /// What the system refused to do with a file.
    init(system error: SystemError, _ path: String) {
        guard !error.isBusy else {
            self.init(.busy, "Another process holds \(path); try again when it is done.")
            return
        }
        self.init(system: LogError(error, path))
    }

    /// What the system refused to do with a file.
    init(system error: LogError) {
        let number = error.systemError ?? 0
        let advice =
            switch SystemError(number, "").advice {
            case .some(let advice): " \(advice)"
            case .none: ""
            }
        self.init(
            .unavailable, "Cannot \(error.detail): \(SystemError.words(for: number)).\(advice)", systemError: number)
    }
}
