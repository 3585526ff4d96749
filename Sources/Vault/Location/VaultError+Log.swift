private import Glibc
import LinuxSystem
import SealedFormat

// This file translates the log's errors into messages that tell a person what to do. The messages are shown to users of
// the library and of the command, so they mention no options or subcommands. The command adds its own hints.

extension VaultError {
    /// The public code for each code of the log. Other system errors become `unavailable`, all other errors `locked`.
    static let codes: [LogError.Code: Code] = [
        .missing: .noVault, .gone: .gone, .notAFile: .unavailable, .exists: .exists, .slotExists: .exists,
        .notContained: .exists, .notCompared: .exists, .notACopy: .exists, .invalid: .invalid, .lastMember: .invalid,
        .usedUp: .invalid,
        .damaged: .damaged, .copyDamaged: .damaged, .newerFormat: .newerFormat, .rolledBack: .rolledBack,
        .diverged: .diverged, .exchanged: .exchanged, .otherName: .exchanged, .busy: .busy, .unavailable: .unavailable,
        .outcomeUnknown: .outcomeUnknown, .conflict: .busy, .overtaken: .busy, .unreachable: .unavailable,
        .serverRefused: .unavailable,
        .slotGone: .absent, .outOfMemory: .unavailable, .accessLogUnusable: .unavailable,
    ]

    /// Translates an error of the log. The message names the vault and the key file of `location`.
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
            case .keyMissing where !location.isOwnKeyFile: nil
            default: VaultError.causes[error.code]
            }
        let copies = VaultError.copiesInstead(of: error, location)
        self.init(
            VaultError.codes[error.code] ?? (error.isOfTheSystem ? .unavailable : .locked),
            VaultError.sentence(for: error, location, besides: copies), systemError: error.systemError,
            causes: [copies.map { Cause.copyInstead($0, isDamaged: error.code == .damaged) }, cause].compactMap(\.self))
    }

    /// Translates an error that occurred during a salvage. The message does not advise salvaging again.
    ///
    /// - Parameter target: the path of the new vault.
    init(salvaging error: LogError, to target: String, _ location: VaultLocation) {
        switch error.code {
        case .damaged:
            let copies = VaultError.copiesInstead(of: error, location)
            self.init(
                .damaged,
                "Nothing in \(location.vault) can be salvaged: \(error.detail).\(VaultError.mention(copies)) "
                    + "Restore the vault from a backup.",
                causes: copies.map { [.copyInstead($0, isDamaged: true)] } ?? [])
        // Salvaging writes only the new vault, so it was the new vault that could not be flushed.
        case .outcomeUnknown: self.init(unflushed: target, error)
        default: self.init(error, location)
        }
    }

    /// Creates the error for a copy that was written completely, but that a power loss may undo.
    init(unflushed path: String, _ error: LogError) {
        self.init(
            .outcomeUnknown,
            "\(path) is written, but flushing its directory entry failed. Check the disk, then verify the copy.",
            systemError: error.systemError, causes: [.unflushedCopy(path)])
    }

    /// Returns the copies that file synchronization has left next to a damaged or missing vault; nil if there are no
    /// copies, or if the vault is neither damaged nor missing.
    private static func copiesInstead(of error: LogError, _ location: VaultLocation) -> CopiesBeside? {
        guard [.damaged, .gone, .missing].contains(error.code) else { return nil }
        let copies = CopiesBeside(location.vault)
        return copies.files.isEmpty ? nil : copies
    }

    private static func mention(_ copies: CopiesBeside?) -> String {
        guard let copies else { return "" }
        let files = copies.files.joined(separator: ", ")
        return copies.files.count == 1
            ? " File synchronization has left another copy next to it, which may be intact: \(files)."
            : " File synchronization has left other copies next to it, which may be intact: \(files)."
    }

    /// Returns the error for a rollback or a divergence that copies next to the vault may explain; otherwise nil.
    ///
    /// - Parameters:
    ///   - tried: the paths of the copies that were to be merged but did not resolve the alarm.
    ///   - unusable: the copies in `tried` that cannot be opened, with the reasons.
    ///   - isMerged: whether the copies were merged anyway.
    static func alarm(
        _ error: LogError, _ location: VaultLocation, tried: [String],
        unusable: [(path: String, error: VaultError)] = [], isMerged: Bool = false
    ) -> VaultError? {
        guard let code = codes[error.code], [.rolledBack, .diverged].contains(code) else { return nil }
        var copies = CopiesBeside(location.vault).without(tried)
        // If the configuration already states that git manages the vault, the hint about git does not apply.
        if location.isInGit, copies.gitReference == nil { copies.isInRepository = false }
        guard !copies.isEmpty || !tried.isEmpty else { return nil }
        let opened = tried.filter { path in !unusable.contains { $0.path == path } }.joined(separator: ", ")
        let outcome =
            if isMerged {
                "The vault was merged, but its history still lacks changes that this machine has seen."
            } else {
                opened.isEmpty
                    ? "Nothing was merged."
                    : "Nothing was merged, because the changes that this machine has seen are not in \(opened) either."
            }
        let consequence = code == .rolledBack ? "If you accept it, \(comingBack)." : ""
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
            "The changes that were made without the server are still in \(path). They cannot be merged and are not "
                + "shown. \(cause.message)", causes: [.changesLeft(path: path, isLocked: cause.code == .locked)])
    }

    /// The consequence of accepting an older vault.
    private static let comingBack = "keys and members removed since then will come back"

    private static func fact(of error: LogError, _ vault: String) -> String {
        error.code == .rolledBack
            ? "\(vault) is an older copy: it ends at \(error.detail)."
            : "\(vault) has a different history from the one this machine remembers: \(error.detail) differs."
    }

    static let causes: [LogError.Code: Cause] = [
        .keyMissing: .keyFileMissing, .keyWrong: .keyWrong, .keyShared: .keyFileShared,
        .passphraseNeeded: .passphraseNeeded, .commandUntrusted: .commandUntrusted, .identityMissing: .identityMissing,
        .unpinned: .fingerprintUnknown, .accessLogUnusable: .accessLogUnusable,
        .lastMember: .lastMember,
    ]

    /// Returns a sentence about another way to open the vault.
    static func alternative(_ error: LogError, _ location: VaultLocation) -> String {
        switch error.code {
        case .passphraseNeeded: "The passphrase of \(location.vault) would open it too, but no prompt is possible here."
        case .identityMissing: "An age identity of one of its recipients would open it too. Name the identity file."
        default: sentence(for: error, location)
        }
    }

    /// Returns the message for an error. `copies` are the copies next to a damaged or missing vault.
    private static func sentence(
        for error: LogError, _ location: VaultLocation, besides copies: CopiesBeside? = nil
    ) -> String {
        let (vault, key) = (location.vault, location.keyFile)
        let (detail, number) = (error.detail, error.systemError ?? 0)
        switch error.code {
        case .missing: return "There is no vault at \(vault).\(mention(copies))"
        case .gone where location.isInDatabase:
            return "The vault at \(vault) is gone from its database. Restore it there from a backup, or from a "
                + "machine's local copy."
        case .gone:
            return "The vault at \(vault) is gone.\(mention(copies)) Mount the vault's disk, or restore the vault."
        case .notAFile: return "The vault \(vault) is \(detail), not a file. Name the vault file itself."
        case .slotExists: return "This key already opens \(vault)\(detail.isEmpty ? "" : " (\(detail))")."
        case .exists: return "\(detail.isEmpty ? vault : detail) already exists; it was left alone."
        case .notContained:
            return "\(detail) has changes that the copy would lack; it was left alone. Merge it first. Keep it until "
                + "the merge reports that you may delete it."
        case .notCompared:
            return "\(detail) is so much older that the copy might lack some of its changes. "
                + "It was left alone. Merge it first. Keep it until the merge reports that you may delete it."
        case .notACopy:
            return "\(detail) is not a copy of this vault, or cannot be opened as one; it was left alone. "
                + "Move it away if you do not need it there."
        case .invalid: return "Not possible: \(detail)."
        case .lastMember:
            return "This is the last member of \(vault). Without members, changes are no longer signed."
        case .usedUp:
            return "\(vault) has used up its sequence numbers, so it can be neither compacted nor merged, and its keys "
                + "cannot be changed. Salvage it into a new vault, which starts with new sequence numbers."
        case .keyMissing: return "The key file \(key) is missing. Mount its disk, or restore it from its backup."
        case .keyUnreadable where number == EINVAL:
            return "The key file \(key) is not a regular file. Name one that is."
        case .keyUnreadable:
            let advice = number == EACCES ? " Check its owner and mode." : ""
            return "The key file \(key) cannot be read (\(SystemError.message(for: number))).\(advice)"
        case .keyExposed:
            return "The key file \(key) is open to others. Fix it with `chmod 600 \(key.shellWord)` (as its owner)."
        case .keyShared:
            return "The key file \(key) belongs to root, but others can read it, or change the path to it. Fix it with "
                + "`chown USER \(key.shellWord) && chmod 600 \(key.shellWord)` (as root), or accept it as it is."
        case .keyDamaged: return "\(keyWords(detail)). Restore it from its backup."
        case .keyUnsuitable:
            return "\(keyWords(detail)). Name another key file, or restore the right one from its backup."
        case .keyWrong:
            let source = location.keyCommand.map { "The output of \($0.quoted)" } ?? "The key file \(key)"
            return
                "\(source) does not open \(vault). It is the wrong key, it has been replaced or removed, or its key "
                + "slot is damaged. Use one of the vault's current keys or, if this is an older copy of the vault, "
                + "a key from that time."
        case .keysChanged: return "The keys of \(vault) have changed since this machine last used it. Try again."
        case .slotGone: return "That key of \(vault) no longer exists. It was removed or replaced in the meantime."
        case .passphraseNeeded: return "\(vault) needs its passphrase."
        case .passphraseWrong: return "Wrong passphrase for \(vault)."
        case .commandFailed:
            let reason = number == 0 ? detail : "\(detail) (\(SystemError.message(for: number)))"
            return "The command for the key of \(vault) failed: \(reason)."
        case .commandUntrusted:
            return
                "According to \(vault), \(detail.quoted) outputs its key. The command has not been approved on this "
                + "machine, so it was not run. If you trust it, name it once as the command for the key."
        case .identityMissing:
            return "\(vault) can be opened with an identity of one of its recipients. Name the identity file."
        case .identityUnreadable:
            return "The identity file \(detail) cannot be read (\(SystemError.message(for: number)))."
        case .identityExposed:
            return "The identity file \(detail) is open to others. Fix it with `chmod 600 \(detail.shellWord)` (as its "
                + "owner)."
        case .identityWrong: return "No identity opens \(vault): \(detail)."
        case .identityRemoved:
            let identity = detail.isEmpty ? location.identityFile.map { " \($0)" } ?? "" : " \(detail)"
            return "Your identity\(identity) does not open \(vault): its key was removed or was never added, "
                + "or its plugin now has another key. Ask someone who can open the vault."
        case .unpinned:
            return
                "The fingerprint of \(vault) is \(Fingerprint.text(detail)), and this machine does not know it. "
                + "Compare it with the one that its owner sees. If they match, open the vault with that fingerprint."
        case .pinWrong:
            return
                "\(vault) does not have the expected fingerprint. Its fingerprint is "
                + "\(Fingerprint.text(detail)). Either its data key was rotated, or someone has put another vault "
                + "in its place. Ask its owner for the fingerprint."
        case .damaged:
            let sources = location.isInDatabase ? "a backup or a machine's local copy" : "a backup"
            return "The vault \(vault) is damaged or was tampered with: \(detail). Nothing was repaired."
                + "\(mention(copies)) Restore the vault from \(sources), or salvage what is intact."
        case .copyDamaged: return "The other copy is damaged or was tampered with: \(detail)."
        case .newerFormat:
            return "The vault \(vault) has a later format (\(detail)). A later version of this program can read it."
        case .rolledBack:
            return fact(of: error, vault)
                + " If you accept it, \(comingBack). Accept it only if you restored it yourself."
        case .diverged: return fact(of: error, vault) + " Accept it only if you know that it is the right one."
        case .exchanged:
            return "\(vault) is a different vault from the one this machine remembers there. "
                + "Put the right one back. Accept this one only if you put it there yourself."
        case .otherName:
            return "The server's vault at \(detail) has another name, or none. The same key opens it, but "
                + "its content was not used. Check that the URL names the vault that you mean, and ask the server's "
                + "administrator. To give a vault a new name, copy it to "
                + "that name."
        case .notMember where detail.isEmpty: return "\(vault) has members, and this program has no device key."
        case .notMember:
            return "This machine does not belong to any member of \(vault). Ask a member to add it: \(detail)."
        case .accessLogUnusable: return "The access log of \(vault) cannot be used: \(detail)."
        case .untrustworthy: return "What this machine remembers of \(vault) cannot be trusted: \(detail)."
        case .busy where location.isInDatabase:
            return held(detail).message
                + " If no process holds it, the statement_timeout of the server or the role is too short."
        case .busy: return held(detail).message
        case .unavailable: return VaultError(refused: detail, number).message
        case .outcomeUnknown where error.systemError == nil && !detail.isEmpty: return detail
        case .outcomeUnknown:
            return "The disk failed during a write to \(vault): the last change may or may not be stored. "
                + "Check the disk, then verify the vault."
        case .conflict, .overtaken: return contended.message
        case .unreachable, .serverRefused, .deviceUnusable: return detail
        case .outOfMemory: return VaultError.noGuardedMemory.message
        }
    }

    /// Returns `detail` as a sentence without a full stop. If it begins with a path, prepends "The key file".
    private static func keyWords(_ detail: String) -> String {
        detail.hasPrefix("The ") ? detail : "The key file \(detail)"
    }
}
