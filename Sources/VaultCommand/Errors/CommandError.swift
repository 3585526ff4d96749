import Formats
private import Glibc
import LinuxSystem
import Vault

/// The only type of error that the tool reports: a code for programs, a message for users and an exit code for the
/// shell. An error from a lower layer is converted to this type only once.
struct CommandError: Error, Equatable, Encodable {
    /// The stable code, as documented by `vault help json`.
    let code: String
    var exit: ExitCode
    /// The message for users: one or more sentences that contain no secrets.
    var message: String
}

extension CommandError {
    init(_ error: any Error, advising advised: AdvisedCommand) {
        switch error {
        case let error as CommandError: self = error
        case let error as UsageError: self.init(code: "usage", exit: .usage, message: error.description)
        case let error as VaultError: self.init(error, advising: advised)
        case is SealingError: self = .unavailable("No guarded memory is left for the value.")
        // Only the error's type is shown, because its text could contain a secret.
        default: self = .other("Unexpected error: \(type(of: error)).")
        }
    }

    static func system(_ what: String, _ number: Int32) -> CommandError {
        // Only the advice for EMFILE is added, because all other advice assumes that a file was written.
        let advice = number == EMFILE ? SystemError.advice(for: number).map { " \($0)" } ?? "" : ""
        return .unavailable("\(what): \(SystemError.message(for: number)).\(advice)")
    }

    /// Returns the error for a failed write to standard output. If the reader has closed the pipe, `number` is EPIPE.
    static func unwritableOutput(_ number: Int32) -> CommandError {
        system("Standard output could not be written", number)
    }

    static func other(_ message: String) -> CommandError { .init(code: "other", exit: .other, message: message) }
    static func unavailable(_ message: String) -> CommandError {
        .init(code: "unavailable", exit: .inputOutput, message: message)
    }
    static func invalid(_ message: String) -> CommandError { .init(code: "invalid", exit: .usage, message: message) }
    static func refused(_ message: String) -> CommandError { .init(code: "refused", exit: .refused, message: message) }

    /// Returns the error for malformed input. The message repeats no part of the input.
    ///
    /// - Parameter consequence: a clause to append to the message, such as "nothing was imported".
    static func malformed(_ error: FormatError, in source: String, _ consequence: String? = nil) -> CommandError {
        let position = [
            source, error.line.map { "line \(Quantity.number($0))" },
            error.column.map { "column \(Quantity.number($0))" },
        ]
        let sentence = [error.problem, consequence].compactMap(\.self).joined(separator: "; ")
        return invalid("\(position.compactMap(\.self).joined(separator: ", ")): \(sentence).")
    }

    static let tooLarge = invalid(
        "The value is too large (at most \(Keychain.maximumValueSize >> 20) MiB); nothing was stored.")

    /// Returns up to 50 of the names, one per line, to append to a message. If there are more, an ellipsis follows.
    static func lines(_ names: [String]) -> String {
        names.prefix(50).map { "\n  \($0)" }.joined() + (names.count > 50 ? "\n  …" : "")
    }

    static func absent(_ name: String, near: String?) -> CommandError {
        .init(code: "absent", exit: .notFound, message: "No entry named \"\(name)\".\(NearName.question(near))")
    }

    /// - Parameter advised: the command-line options for the commands that the message recommends.
    init(_ error: VaultError, advising advised: AdvisedCommand) {
        let row = CommandError.row(of: error.code, advising: advised)
        let hints = error.causes.isEmpty ? [row.hint ?? ""] : error.causes.map { CommandError.hint($0, advised) }
        let sentences = [error.message] + hints.filter { !$0.isEmpty }
        self.init(code: row.code, exit: row.exit, message: sentences.joined(separator: " "))
    }

    /// Returns the code, the exit code and the hint for a library error. The hint follows the error's message.
    static func row(
        of code: VaultError.Code, advising advised: AdvisedCommand = AdvisedCommand()
    ) -> (code: String, exit: ExitCode, hint: String?) {
        switch code {
        case .absent: ("absent", .notFound, nil)
        case .noVault: ("no-vault", .notFound, "Run `\(advised.line("init"))` to create one.")
        case .gone: ("gone", .refused, newVault(advised))
        case .exists: ("exists", .refused, nil)
        case .guarded: ("refused", .refused, nil)
        case .invalid: ("invalid", .usage, nil)
        case .locked: ("locked", .locked, nil)
        case .damaged: ("damaged", .damaged, nil)
        case .newerFormat: ("newer-format", .other, nil)
        case .busy: ("busy", .busy, "Use --timeout SECONDS to wait longer.")
        case .unavailable: ("unavailable", .inputOutput, nil)
        case .outcomeUnknown: ("outcome-unknown", .inputOutput, "Verify it with `\(advised.line("verify"))`.")
        case .wrongType: ("wrong-type", .other, nil)
        case .rolledBack:
            ("rolled-back", .alarm, merging(advised) + accepting(.acceptRolledBack))
        case .diverged: ("diverged", .alarm, merging(advised) + accepting(.acceptDiverged))
        case .exchanged: ("exchanged", .alarm, accepting(.acceptExchanged))
        default: ("other", .other, nil)
        }
    }

    /// Returns the hint for a vault that was rolled back or has diverged, given the other copies beside it. The hint
    /// begins with the most common cause, and ends with the option that accepts the vault.
    private static func hint(
        _ copies: CopiesBeside, tried: [String], isMerged: Bool, _ alarm: VaultError.Code, _ advised: AdvisedCommand
    ) -> String {
        let option = alarm == .rolledBack ? OptionName.acceptRolledBack : .acceptDiverged
        func merging(_ files: [String]) -> String { advised.merge(files, into: copies.vault) }
        var sentences: [String] = []
        if !copies.files.isEmpty {
            sentences.append(
                "Merge them with `\(merging(tried + copies.files))`. "
                    + "This merge helps only if one of the copies has the changes that this machine has seen.")
        }
        if let reference = copies.gitReference {
            let side = GitSide(reference, of: "\(copies.folder)/\(copies.name)")
            sentences.append("Write it to a file: `\(side.command)`. Merge that file: `\(merging([side.file]))`.")
        }
        if tried.isEmpty, copies.gitReference == nil, copies.isInRepository {
            sentences.append(
                "If git replaced the file, \(advised.gitSetting) (see `vault help locations`), and accept this "
                    + "version once.")
        }
        if isMerged {
            let line = advised.merge(tried, into: copies.vault, with: .allFromFormerKey)
            sentences.append(
                "If only people with access can have made the merged changes, accept all of them: `\(line)`.")
        }
        if tried.isEmpty {
            sentences.append(
                "Accept the vault as it is only if there is no other explanation: add \(option.spelling) once, to "
                    + "this or another command.")
        } else {
            sentences.append(
                "If you know that the vault is right although it lacks changes that this machine has seen, merge with "
                    + "\(option.spelling).")
        }
        return sentences.joined(separator: " ")
    }

    /// Returns a hint with commands that replace a damaged or missing vault with a copy. A damaged vault is renamed.
    private static func hint(
        _ copies: CopiesBeside, insteadOfDamaged isDamaged: Bool, _ advised: AdvisedCommand
    ) -> String {
        // The copies are sorted by name. If their names contain the time, as is usual, the last one is the newest.
        let copy = copies.files.last ?? ""
        let words = [copy, resolvedPath(copies.vault)].map { AdvisedCommand.path($0) }
        let moves =
            isDamaged
            ? VaultExchange(of: copies.vault, for: copy).moves
            : "ln -T \(words[0]) \(words[1]) && rm \(words[0])"
        return "Check the copy first: `\(advised.line("verify", of: copy))`. "
            + "If this reports no problem, replace the vault with the copy: `\(moves)`."
    }

    private static func puttingBack(_ url: String, _ advised: AdvisedCommand) -> String {
        advised.line("clone --offline \(ShellQuoting.quoted(url)) \(ShellQuoting.quoted(url))")
    }

    private static func merging(_ advised: AdvisedCommand) -> String {
        "If you have the other version, merge it with `\(advised.line("merge OTHER"))`. "
    }

    private static func accepting(_ option: OptionName) -> String {
        "To accept the vault, add \(option.spelling) once, to this or another command."
    }

    private static func newVault(_ advised: AdvisedCommand) -> String {
        "To start a new one, run `\(advised.line("init --force"))`."
    }

    /// Returns the hint for one cause of an error. It is more specific than the hint for the error's code.
    private static func hint(_ cause: VaultError.Cause, _ advised: AdvisedCommand) -> String {
        switch cause {
        case .copiesBeside(let copies, let tried, let isMerged, let alarm):
            hint(copies, tried: tried, isMerged: isMerged, alarm, advised)
        case .copyInstead(let copies, let isDamaged): hint(copies, insteadOfDamaged: isDamaged, advised)
        case .damagedVault(let vault):
            "Salvage it with `\(advised.line("salvage OUT", of: vault))`, which copies the intact parts to a new vault."
        case .unflushedCopy(let path): "Verify it with `\(advised.line("verify", of: path))`."
        case .usedUpVault(let vault):
            "Do that with `\(advised.line("salvage NEW", of: vault))`; `vault help salvage` explains how to "
                + "replace the vault with NEW."
        case .changesLeft(let path, isLocked: true):
            "If OLD is the key file that opened the vault when the changes were made, and NEW the current one, run "
                + "`\(advised.withKeyFile("OLD").line("key add --file NEW", of: path))`. The next command "
                + "then stores the changes."
        case .changesLeft(let path, isLocked: false):
            "Copy its intact parts to a new vault with `\(advised.line("salvage OUT", of: path))`. Store the values "
                + "that you still need from there, then delete the file."
        case .unusableCopy(.damaged):
            "If that file is still being copied, wait until it is complete, and merge again. Otherwise copy it again, "
                + "or salvage it."
        case .unusableCopy: ""
        case .homeUnset: "Or use --vault and --key-file."
        case .oneFileForVaultAndKey: "Use --vault and --key-file."
        case .unexpandedTilde(let path, let isKeyFile):
            "Or write `\((isKeyFile ? OptionName.keyFile : .vault).spelling) \(path)` without quotes."
        case .keyWrong: ""
        case .keyFileMissing: "If the key file is elsewhere, use \(advised.keyFileSetting())."
        case .keyFileShared: "To accept it, use --accept-shared-key."
        case .keySecretMissing(let number): "Use --file \(number)=PATH for a key file, or --drop \(number)."
        case .passphraseMissing(let number): "Run the command at a terminal, or use --drop \(number)."
        case .valuesLeft: "Then run `\(advised.line("compact"))`."
        case .passphraseNeeded: "Run the command at a terminal, or run `\(advised.line("unlock"))` there first."
        case .commandUntrusted: "To name the command, use --key-command."
        case .identityMissing: "To name the identity file, use --identity."
        case .fingerprintUnknown: "Pass it with --vault-fingerprint."
        case .lastMember: "To remove the member nevertheless, use \(OptionName.force.spelling)."
        case .olderDrop: "To store it anyway, use \(OptionName.acceptOlder.spelling)."
        case .policySet(let entry, isExpired: false): advised.liftingPolicy(of: entry)
        case .policySet(let entry, isExpired: true):
            "It has expired. Set it again first. " + advised.liftingPolicy(of: entry)
        case .fieldLeft(let field, let policy):
            "With -r, `vault rm` and `vault mv` include the fields of a login. To keep a field, give it "
                + "the policy too: `\(advised.settingPolicy(policy, of: field))`."
        case .accessLogUnusable:
            "While the log is on, values can be read only if the log can be written. Fix that, or run "
                + "`\(advised.line("log --off"))`."
        case .targetLacked(let vault, let target, isOffline: false):
            "Merge it with `\(advised.merge([target], into: vault))`."
        case .targetLacked(let vault, let target, isOffline: true):
            "Merge it with `\(advised.line("--offline backup FILE", of: vault))` and then "
                + "`\(advised.line("merge FILE", of: target))`."
        case .copyKept(let path, isComplete: true): "Merge it with `\(advised.merge([path]))`."
        case .copyKept(let path, isComplete: false):
            "It is incomplete. Copy its intact parts with `\(advised.line("salvage OUT", of: path))`."
        case .otherName: "Create such a copy with `vault clone`."
        case .goneFromDatabase(let url):
            "If this machine has a complete copy, restore it with `\(puttingBack(url, advised))`. \(newVault(advised))"
        case .damagedInDatabase(let url):
            "Restore it on a machine that has a complete copy (see `\(advised.line("--offline info"))`) with "
                + "`\(puttingBack(url, advised)) --force`, unless that would lose changes. "
                + hint(.damagedVault(url), advised)
        }
    }
}
