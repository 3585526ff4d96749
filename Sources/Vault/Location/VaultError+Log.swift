private import Glibc
import LinuxSystem
import SealedLog

// Translates the log's errors, once, to what a person can act on. The library's users and the command's read these
// sentences, so they name no option or command; the command adds its own hints.

extension VaultError {
    /// The codes of the log's errors, translated. Those of the key file become `locked`, unless the system refused.
    static let codes: [LogError.Code: Code] = [
        .missing: .noVault, .gone: .gone, .notAFile: .unavailable, .exists: .exists, .slotExists: .exists,
        .notContained: .exists, .notCompared: .exists, .notACopy: .exists, .invalid: .invalid, .usedUp: .invalid,
        .damaged: .damaged, .copyDamaged: .damaged, .newerFormat: .newerFormat, .rolledBack: .rolledBack,
        .diverged: .diverged, .exchanged: .exchanged, .otherName: .exchanged, .busy: .busy, .unavailable: .unavailable,
        .outcomeUnknown: .outcomeUnknown, .conflict: .busy, .overtaken: .busy, .unreachable: .unavailable,
        .serverRefused: .unavailable,
        .slotGone: .absent, .outOfMemory: .unavailable, .accessLogUnusable: .unavailable,
    ]

    /// - Parameter location: the vault and the key file that were used.
    init(_ error: LogError, _ location: VaultLocation) {
        if let alarm = VaultError.alarm(error, location, tried: []) {
            self = alarm
            return
        }
        let cause: Cause? =
            switch error.code {
            case .gone where location.isInDatabase: .goneFromDatabase(url: location.vault)
            case .damaged where location.isInDatabase: .damagedInDatabase(url: location.vault)
            case .damaged: .damagedVault(location.vault)
            case .otherName: .otherName
            case .usedUp: .usedUpVault(location.vault)
            default: VaultError.causes[error.code]
            }
        let copies = VaultError.copiesInstead(of: error, location)
        self.init(
            VaultError.codes[error.code] ?? (error.isOfTheSystem ? .unavailable : .locked),
            VaultError.sentence(for: error, location, besides: copies), systemError: error.systemError,
            causes: [copies.map { Cause.copyInstead($0, isDamaged: error.code == .damaged) }, cause].compactMap(\.self))
    }

    /// Returns an error of salvaging. It omits the advice to salvage.
    ///
    /// - Parameter target: the path of the new vault.
    init(salvaging error: LogError, to target: String, _ location: VaultLocation) {
        switch error.code {
        case .damaged:
            let copies = VaultError.copiesInstead(of: error, location)
            self.init(
                .damaged,
                "Nothing of \(location.vault) can be salvaged: \(error.detail).\(VaultError.mention(copies)) "
                    + "Restore the vault from a backup.",
                causes: copies.map { [.copyInstead($0, isDamaged: true)] } ?? [])
        // Nothing else is written.
        case .outcomeUnknown: self.init(unflushed: target, error)
        default: self.init(error, location)
        }
    }

    /// Returns the error of a copy at a path that is complete, and may not outlast a power loss.
    init(unflushed path: String, _ error: LogError) {
        self.init(
            .outcomeUnknown,
            "\(path) is written, but the disk failed to flush its name. Check the disk, then verify the copy.",
            systemError: error.systemError, causes: [.unflushedCopy(path)])
    }

    /// Returns the copies that a file synchronization has left beside a vault that is damaged or not there; nil if
    /// there are none.
    private static func copiesInstead(of error: LogError, _ location: VaultLocation) -> CopiesBeside? {
        guard [.damaged, .gone, .missing].contains(error.code) else { return nil }
        let copies = CopiesBeside(location.vault)
        return copies.files.isEmpty ? nil : copies
    }

    private static func mention(_ copies: CopiesBeside?) -> String {
        guard let copies else { return "" }
        let files = copies.files.joined(separator: ", ")
        return copies.files.count == 1
            ? " A file synchronization has left another copy beside it, which may be intact: \(files)."
            : " A file synchronization has left other copies beside it, which may be intact: \(files)."
    }

    /// Returns the error of an alarm that copies beside the vault explain; nil if there is none.
    ///
    /// - Parameters:
    ///   - tried: the paths of copies that were to be merged, and that have not what this machine remembers.
    ///   - unusable: those of them that cannot be opened, with the reasons.
    ///   - isMerged: whether they were merged nevertheless.
    static func alarm(
        _ error: LogError, _ location: VaultLocation, tried: [String],
        unusable: [(path: String, error: VaultError)] = [], isMerged: Bool = false
    ) -> VaultError? {
        guard let code = codes[error.code], [.rolledBack, .diverged].contains(code) else { return nil }
        var copies = CopiesBeside(location.vault).without(tried)
        // It was said already, and is no reason for this alarm.
        if location.isInGit, copies.gitReference == nil { copies.isInRepository = false }
        guard !copies.isEmpty || !tried.isEmpty else { return nil }
        let opened = tried.filter { path in !unusable.contains { $0.path == path } }.joined(separator: ", ")
        let outcome =
            if isMerged {
                "It was merged, but its history still lacks some of what this machine has seen."
            } else {
                opened.isEmpty
                    ? "Nothing was merged."
                    : "Nothing was merged, since what this machine has seen is not in \(opened) either."
            }
        let consequence = code == .rolledBack ? "If it is accepted, \(comingBack)." : ""
        let sentences =
            [fact(of: error, location.vault), consequence, tried.isEmpty ? "" : outcome] + unusable.map(\.error.message)
            + [copies.advice]
        return VaultError(
            code, sentences.filter { !$0.isEmpty }.joined(separator: " "),
            causes: unusable.flatMap(\.error.causes)
                + [.copiesBeside(copies, tried: tried, isMerged: isMerged, alarm: code)])
    }

    init(ofChangesIn path: String, left error: LogError, _ location: VaultLocation) {
        var file = location
        file.vault = path
        let cause = VaultError(error.code == .copyDamaged ? LogError(.damaged, error.detail) : error, file)
        self.init(
            cause.code,
            "What was changed without the server waits in \(path), and is missing from what is shown: it cannot be "
                + "taken over. \(cause.message)", causes: [.changesLeft(path: path, isLocked: cause.code == .locked)])
    }

    /// The consequence of accepting an older vault, in any way.
    private static let comingBack = "keys and members that were removed since come back"

    private static func fact(of error: LogError, _ vault: String) -> String {
        error.code == .rolledBack
            ? "\(vault) is an older copy: it ends at \(error.detail)."
            : "\(vault) has another history than the one this machine remembers: \(error.detail) differs."
    }

    static let causes: [LogError.Code: Cause] = [
        .keyMissing: .keyFileMissing, .keyWrong: .keyWrong, .keyShared: .keyFileShared,
        .passphraseNeeded: .passphraseNeeded, .commandUntrusted: .commandUntrusted, .identityMissing: .identityMissing,
        .unpinned: .fingerprintUnknown, .accessLogUnusable: .accessLogUnusable,
    ]

    /// Returns what would open a vault besides what was tried, in a sentence.
    static func alternative(_ error: LogError, _ location: VaultLocation) -> String {
        switch error.code {
        case .passphraseNeeded: "The passphrase of \(location.vault) would open it too, but cannot be asked for here."
        case .identityMissing: "An age identity of one of its recipients would open it too. Give the path of its file."
        default: sentence(for: error, location)
        }
    }

    /// - Parameter copies: those beside a vault that is damaged or not there.
    private static func sentence(
        for error: LogError, _ location: VaultLocation, besides copies: CopiesBeside? = nil
    ) -> String {
        let (vault, key) = (location.vault, location.keyFile)
        let (detail, number) = (error.detail, error.systemError ?? 0)
        switch error.code {
        case .missing: return "There is no vault at \(vault).\(mention(copies))"
        case .gone where location.isInDatabase:
            return "The vault at \(vault) is gone from its database. Restore it there, from a backup or from what a "
                + "machine has kept of it."
        case .gone:
            return "The vault at \(vault) is gone.\(mention(copies)) Restore the vault, or mount its disk."
        case .notAFile: return "The vault \(vault) is \(detail), not a file. Name the vault file itself."
        case .slotExists: return "This opens \(vault) already\(detail.isEmpty ? "" : ", as \(detail) of it")."
        case .exists: return "\(detail.isEmpty ? vault : detail) already exists; it was left alone."
        case .notContained:
            return "\(detail) has changes that the copy would lack; it was left alone. Merge it first. Delete it once "
                + "the merge says that you may."
        case .notCompared:
            return "Nothing tells whether the copy would have all that is in \(detail), which is much older. "
                + "It was left alone. Merge it first. Delete it once the merge says that you may."
        case .notACopy:
            return "\(detail) is no copy of this vault, or cannot be opened as one; it was left alone. "
                + "Move it away if you do not need it there."
        case .invalid: return "Not possible: \(detail)."
        case .usedUp:
            return "\(vault) has used up its sequence numbers, so it can be neither compacted nor merged, and its keys "
                + "stay as they are. Salvage it into a new vault, which counts from the beginning."
        case .keyMissing: return "The key file \(key) is missing. Mount it, or restore it from its backup."
        case .keyUnreadable where number == EINVAL:
            return "The key file \(key) is not a regular file. Name one that is."
        case .keyUnreadable:
            let advice = number == EACCES ? " Check its owner and mode." : ""
            return "The key file \(key) cannot be read (\(SystemError.message(for: number))).\(advice)"
        case .keyExposed:
            return "The key file \(key) is open to others. Fix it with `chmod 600 \(key)` (as its owner)."
        case .keyShared:
            return "The key file \(key) belongs to root, but others can read it, or change the path to it. "
                + "Fix it with `chmod 600 \(key)` (as root), or accept it as it is."
        case .keyDamaged: return "\(keyWords(detail)). Restore it from its backup."
        case .keyUnsuitable:
            return "\(keyWords(detail)). Name another one, or restore the right one from its backup."
        case .keyWrong:
            let source = location.keyCommand.map { "The output of \($0.quoted)" } ?? "The key file \(key)"
            return
                "\(source) does not open \(vault). It is the wrong key, or one that was replaced or removed since. A "
                + "copy from before that opens with the keys of then. Or the key slot is damaged. "
                + "Name a key of \(vault)."
        case .keysChanged: return "The keys of \(vault) have changed since this machine used it last. Try again."
        case .slotGone: return "That key of \(vault) is gone: it was removed or replaced meanwhile."
        case .passphraseNeeded: return "\(vault) needs its passphrase."
        case .passphraseWrong: return "Wrong passphrase for \(vault)."
        case .commandFailed:
            let reason = number == 0 ? detail : "\(detail) (\(SystemError.message(for: number)))"
            return "The command for the key of \(vault) failed: \(reason)."
        case .commandUntrusted:
            return
                "\(vault) says that the command \(detail.quoted) gives its key. It was not agreed to on this machine, "
                + "so it was not run. If you trust it, name it as the command for the key once."
        case .identityMissing:
            return "\(vault) can be opened by an identity of one of its recipients: name its file."
        case .identityUnreadable:
            return "The identity file \(detail) cannot be read (\(SystemError.message(for: number)))."
        case .identityExposed:
            return "The identity file \(detail) is open to others. Fix it with `chmod 600 \(detail)` (as its owner)."
        case .identityWrong: return "No identity opens \(vault): \(detail)."
        case .identityRemoved:
            let identity = detail.isEmpty ? location.identityFile.map { " \($0)" } ?? "" : " \(detail)"
            return "Your identity\(identity) no longer opens \(vault): its key was removed, or its plugin has another "
                + "one now. Ask somebody who can open it."
        case .unpinned:
            return
                "The fingerprint of \(vault) is \(Fingerprint.text(detail)), and this machine does not know it. "
                + "Compare it with the one that its owner sees; if they are equal, name it when you open the vault."
        case .pinWrong:
            return
                "\(vault) is not the vault that this machine knows: its fingerprint is "
                + "\(Fingerprint.text(detail)). Either its data key was rotated, or somebody has made another vault "
                + "for you. Ask its owner for the fingerprint."
        case .damaged:
            let sources = location.isInDatabase ? "a backup or what a machine has kept of it" : "a backup"
            return "The vault \(vault) is damaged or was tampered with: \(detail). The damage is left as it is."
                + "\(mention(copies)) Restore the vault from \(sources), or salvage what is intact."
        case .copyDamaged: return "The other copy is damaged or was tampered with: \(detail)."
        case .newerFormat:
            return "The vault \(vault) has a later format (\(detail)). A later version of this program can read it."
        case .rolledBack:
            return fact(of: error, vault) + " If you restored it yourself, accept it: \(comingBack)."
        case .diverged: return fact(of: error, vault) + " If you know that this vault is the right one, accept it."
        case .exchanged:
            return "\(vault) is a different vault from the one this machine remembers there. "
                + "If you put it there yourself, accept it."
        case .otherName:
            return "The server shows another vault under the name of \(detail). It opens with the same key, and has "
                + "been given another name, or none: nothing tells which. Nothing of it was used. Check that the URL "
                + "names the vault that you mean, and ask the server's administrator. A vault gets a new name only by "
                + "a copy that is made under it."
        case .notMember where detail.isEmpty: return "\(vault) has members, and this program signs as none of them."
        case .notMember:
            return "\(vault) has members, and this machine is none of theirs. Ask one of them to add it, as \(detail)."
        case .accessLogUnusable: return "The access log of \(vault) cannot be used: \(detail)."
        case .untrustworthy: return "What is known here of \(vault) cannot be believed: \(detail)."
        case .busy where location.isInDatabase:
            return held(detail).message
                + " If none does, a limit of the server or the role is too short (statement_timeout)."
        case .busy: return held(detail).message
        case .unavailable: return VaultError(refused: detail, number).message
        case .outcomeUnknown where error.systemError == nil && !detail.isEmpty: return detail
        case .outcomeUnknown:
            return "The disk failed while \(vault) was written: the last change may or may not last. "
                + "Check the disk, then verify the vault."
        case .conflict, .overtaken: return contended.message
        case .unreachable, .serverRefused, .deviceUnusable: return detail
        case .outOfMemory: return VaultError.noGuardedMemory.message
        }
    }

    /// - Parameter detail: begins with the path, or with where else the key comes from.
    private static func keyWords(_ detail: String) -> String {
        detail.hasPrefix("The ") ? detail : "The key file \(detail)"
    }
}
