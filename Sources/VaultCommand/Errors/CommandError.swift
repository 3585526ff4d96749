import Formats
private import Glibc
import LinuxSystem
import Sealing
import Vault

/// The one error of the tool: a code for programs, a message for people, the exit code for the shell. Errors of the
/// layers below are translated into it, once.
struct CommandError: Error, Equatable, Encodable {
    /// Stable, as documented by `vault help json`.
    let code: String
    var exit: ExitCode
    /// One sentence or more, never a secret.
    var message: String
}

extension CommandError {
    init(_ error: any Error, advising advised: AdvisedCommand = AdvisedCommand()) {
        switch error {
        case let error as CommandError: self = error
        case let error as UsageError: self.init(code: "usage", exit: .usage, message: error.description)
        case let error as VaultError: self.init(error, advising: advised)
        case is SealingError:
            self.init(
                code: "unavailable", exit: .inputOutput, message: "There is no guarded memory left for the value.")
        // The type alone: the text of an unknown error could contain a secret.
        default: self.init(code: "other", exit: .other, message: "Unexpected error: \(type(of: error)).")
        }
    }

    static func system(_ what: String, _ number: Int32) -> CommandError {
        // The advice for other numbers concerns files that are written.
        let advice = number == EMFILE ? SystemError.advice(for: number).map { " \($0)" } ?? "" : ""
        let message = "\(what): \(SystemError.message(for: number)).\(advice)"
        return .init(code: "unavailable", exit: .inputOutput, message: message)
    }

    /// A failed write to standard output: by EPIPE, if its reader has closed its end.
    static func unwritableOutput(_ number: Int32) -> CommandError {
        system("Standard output could not be written", number)
    }

    static func invalid(_ message: String) -> CommandError { .init(code: "invalid", exit: .usage, message: message) }
    static func refused(_ message: String) -> CommandError { .init(code: "refused", exit: .refused, message: message) }

    /// A text that does not have the form of its format. Nothing of it is repeated.
    ///
    /// - Parameter consequence: what else the sentence says, such as that nothing was imported.
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

    /// Returns names for the end of a message, each on a line of its own.
    static func lines(_ names: [String]) -> String {
        names.prefix(50).map { "\n  \($0)" }.joined() + (names.count > 50 ? "\n  …" : "")
    }

    static func absent(_ name: String, near: String?) -> CommandError {
        .init(code: "absent", exit: .notFound, message: "No entry named \"\(name)\".\(NearName.question(near))")
    }

    /// - Parameter advised: how commands are advised.
    init(_ error: VaultError, advising advised: AdvisedCommand = AdvisedCommand()) {
        let row = CommandError.row(of: error.code, advising: advised)
        let hints = error.causes.isEmpty ? [row.hint ?? ""] : error.causes.map { CommandError.hint($0, advised) }
        let sentences = [error.message] + hints.filter { !$0.isEmpty }
        self.init(code: row.code, exit: row.exit, message: sentences.joined(separator: " "))
    }

    /// Returns a library's code as programs and the shell see it, and this tool's hint after the library's message.
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
        case .outcomeUnknown: ("outcome-unknown", .inputOutput, "Run `\(advised.line("verify"))` for that.")
        case .wrongType: ("wrong-type", .other, nil)
        case .rolledBack:
            ("rolled-back", .alarm, "To do so, use --accept-rolled-back once, with this or another command.")
        case .diverged: ("diverged", .alarm, "To do so, use --accept-diverged once, with this or another command.")
        case .exchanged: ("exchanged", .alarm, "To do so, use --accept-exchanged once, with this or another command.")
        default: ("other", .other, nil)
        }
    }

    /// The everyday cause comes first, and accepting last.
    private static func hint(
        _ copies: CopiesBeside, tried: [String], isMerged: Bool, _ alarm: VaultError.Code, _ advised: AdvisedCommand
    ) -> String {
        let option = alarm == .rolledBack ? OptionName.acceptRolledBack : .acceptDiverged
        func merging(_ files: [String]) -> String { advised.merge(files, into: copies.vault) }
        var sentences: [String] = []
        if !copies.files.isEmpty {
            sentences.append(
                "`\(merging(tried + copies.files))` does that. "
                    + "It merges nothing if what this machine has seen is in none of the copies.")
        }
        if let reference = copies.gitReference {
            let side = GitSide(reference, of: "\(copies.folder)/\(copies.name)")
            sentences.append("`\(side.command)` writes it to a file, and `\(merging([side.file]))` merges it.")
        }
        if tried.isEmpty, copies.gitReference == nil, copies.isInRepository {
            sentences.append(
                "If it has, write `kept-in = git` in the vault's section of the configuration (see `vault help locations`), "
                    + "and accept this version once.")
        }
        if isMerged {
            let line = advised.merge(tried, into: copies.vault, with: .allFromFormerKey)
            sentences.append(
                "If nobody who was shut out can have written what was merged, let it count as a whole: `\(line)`.")
        }
        if tried.isEmpty {
            sentences.append(
                "Accept the vault as it is only if nothing else explains it: use \(option.spelling) once, with this or "
                    + "another command."
            )
        } else {
            sentences.append(
                "If you know that the vault is right without what this machine has seen, merge with \(option.spelling)."
            )
        }
        return sentences.joined(separator: " ")
    }

    /// How a copy takes the place of a vault that is damaged or not there. What is in the place is kept.
    private static func hint(
        _ copies: CopiesBeside, insteadOfDamaged isDamaged: Bool, _ advised: AdvisedCommand
    ) -> String {
        // By their names, the last is the latest.
        let copy = copies.files.last ?? ""
        let words = [copy, resolvedPath(copies.vault)].map { AdvisedCommand.path($0) }
        let moves =
            isDamaged
            ? VaultExchange(of: copies.vault, for: copy).moves
            : "ln -T \(words[0]) \(words[1]) && rm \(words[0])"
        return "Look at the copy first: `\(advised.line("verify", of: copy))`. "
            + "If it is intact and raises no alarm, put it in the vault's place: `\(moves)`."
    }

    private static func puttingBack(_ url: String, _ advised: AdvisedCommand) -> String {
        advised.line("clone --offline \(ShellQuoting.quoted(url)) \(ShellQuoting.quoted(url))")
    }

    private static func newVault(_ advised: AdvisedCommand) -> String {
        "To start a new one, run `\(advised.line("init --force"))`."
    }

    /// The hints that need to know more than the code.
    private static func hint(_ cause: VaultError.Cause, _ advised: AdvisedCommand) -> String {
        switch cause {
        case .copiesBeside(let copies, let tried, let isMerged, let alarm):
            hint(copies, tried: tried, isMerged: isMerged, alarm, advised)
        case .copyInstead(let copies, let isDamaged): hint(copies, insteadOfDamaged: isDamaged, advised)
        case .damagedVault(let vault):
            "`\(advised.line("salvage OUT", of: vault))` copies what is intact into a new vault."
        case .unflushedCopy(let path): "Run `\(advised.line("verify", of: path))` for that."
        case .usedUpVault(let vault):
            "`\(advised.line("salvage NEW", of: vault))` does that; `vault help salvage` says how NEW takes its place."
        case .changesLeft(let path, isLocked: true):
            "If OLD is the key file that opened the vault when they were made, and NEW the present one, "
                + "`\(advised.withKeyFile("OLD").line("key add --file NEW", of: path))` lets the next command take them "
                + "over."
        case .changesLeft(let path, isLocked: false):
            "`\(advised.line("salvage OUT", of: path))` copies what is intact of it into a new vault. Store from there "
                + "what is still wanted, and delete the file then."
        case .unusableCopy(.damaged):
            "If that file is still being copied, wait until it is complete, and merge again. Otherwise get it once more."
        case .unusableCopy: ""
        case .homeUnset: "Or use --vault and --key-file."
        case .oneFileForVaultAndKey: "Use --vault and --key-file for that."
        case .unexpandedTilde(let path, let isKeyFile):
            "Or write `\((isKeyFile ? OptionName.keyFile : .vault).spelling) \(path)` without quotes."
        case .keyWrong: ""
        case .keyFileMissing: "If it is elsewhere, name it with --key-file, or as key-file in the configuration."
        case .keyFileShared: "Use --accept-shared-key for that."
        case .keySecretMissing(let number): "Use --file \(number)=PATH for a key file, or --drop \(number)."
        case .passphraseMissing(let number): "Run it at a terminal, or use --drop \(number)."
        case .valuesLeft: "Run `vault compact` then."
        case .passphraseNeeded: "Run it at a terminal, or `vault unlock` there first."
        case .commandUntrusted: "Use --key-command for that."
        case .identityMissing: "Use --identity for that."
        case .fingerprintUnknown: "Use --vault-fingerprint for that."
        case .olderDrop: "To store it all the same, use \(OptionName.acceptOlder.spelling)."
        case .fieldLeft(let field, let policy):
            "With -r, `vault rm` and `vault mv` take the fields of a login along. A field that is to stay needs the policy "
                + "itself: `vault attr \(AdvisedCommand.name(field)) \(Login.policyKey)=\(policy)`."
        case .accessLogUnusable:
            "While the log is on, no value is read without it. Fix that, or run `vault log --off`."
        case .targetLacked(let vault, let target, isOffline: false):
            "`\(advised.merge([target], into: vault))` merges it."
        case .targetLacked(let vault, let target, isOffline: true):
            "`\(advised.line("--offline backup FILE", of: vault))` and then "
                + "`\(advised.line("merge FILE", of: target))` merge it."
        case .copyKept(let path, isComplete: true): "`\(advised.merge([path]))` takes it over."
        case .copyKept(let path, isComplete: false):
            "It is not complete: `\(advised.line("salvage OUT", of: path))` copies what is there."
        case .otherName: "`vault clone` makes such a copy."
        case .goneFromDatabase(let url):
            "If this machine has kept all of it, `\(puttingBack(url, advised))` puts it back. \(newVault(advised))"
        case .damagedInDatabase(let url):
            "A machine that has kept all of it (`\(advised.line("--offline info"))` tells) puts it back with "
                + "`\(puttingBack(url, advised)) --force`, unless something would be lost. "
                + hint(.damagedVault(url), advised)
        }
    }
}
