import Testing
import Vault

@testable import VaultCommand

@Suite struct ErrorTextTests {
    private static let rightWays = """
        A value is never an argument: shell history and process lists would show it. Use one of:
          vault set NAME                  (asks for the value, hidden)
          a-program | vault set NAME
          vault set NAME --file PATH
        """

    @Test(arguments: [
        (UsageError.noCommand, "Missing command. Run `vault help` for the list."),
        (
            .unknownCommand("gte", near: "get"),
            "Unknown command \"gte\". Did you mean \"get\"? Run `vault help` for the list."
        ),
        (.unknownCommand("x", near: nil), "Unknown command \"x\". Run `vault help` for the list."),
        (
            .unknownOption("--jsn", of: .get, near: "--json"),
            "`vault get` has no option --jsn. Did you mean \"--json\"? See `vault help get`."
        ),
        (.unknownOption("-z", of: nil, near: nil), "Unknown option -z. See `vault help`."),
        (.unknownOption(nil, of: .set, near: nil), "`vault set` has no such option. See `vault help set`."),
        (.optionBeforeCommand(.file), "Option --file belongs to a command. Put it after the command."),
        (
            .missingValue(.vault, placeholder: "PATH"),
            "Option --vault needs a value. If the value begins with a dash, write --vault=PATH."
        ),
        (.emptyPath(.vault), "The path for --vault is empty."),
        (.doubledOption(.file), "Option --file is given twice; it takes one value."),
        (.unexpectedValue(.json), "Option --json takes no value."),
        (
            .badChoice(.newline, choices: ["auto", "yes", "no"]),
            "Invalid value for --newline. Use one of: auto, yes, no."
        ),
        (.badTimeout, "Invalid value for --timeout. Use seconds from 0 to 1,000,000, such as 2.5."),
        (.badCost, "Invalid value for --argon2id. Use passes and MiB of memory, such as 3,64."),
        (.missingArgument("NAME", of: .get), "Missing argument NAME. See `vault help get`."),
        (.surplusArgument("b", of: .get), "Unexpected argument \"b\". See `vault help get`."),
        (
            .surplusArgument(nil, of: .set),
            rightWays
        ),
        (.badAttribute, "Invalid attribute. Write KEY=VALUE, with a key that is not empty."),
        (.doubledAttribute, "Two attributes have the same key."),
        (
            .valueInName,
            "NAME contains an equals sign and might include the value. Such a name is accepted only with a pipe or "
                + "with --file. " + rightWays
        ),
        (
            .visibleInput("Standard input"),
            "Standard input is a terminal, which would show the value as you type it. Omit --file to type it "
                + "hidden, or pipe it in."
        ),
        (.notUnicode(2), "Argument 2 is not valid UTF-8. Names and paths must be UTF-8."),
        (
            .unknownTopic("jsn", near: "json"),
            "No help for \"jsn\". Did you mean \"json\"? Run `vault help` for the list."
        ),
    ])
    func usage(error: UsageError, text: String) {
        #expect(error.description == text)
        #expect(
            CommandError(error, advising: AdvisedCommand()) == CommandError(code: "usage", exit: .usage, message: text))
    }

    @Test func anAbsentNameIsToldTheNearOne() {
        #expect(
            CommandError.absent("u.tokn", near: "u.token").message
                == "No entry named \"u.tokn\". Did you mean \"u.token\"?")
        #expect(CommandError.absent("x", near: nil).message == "No entry named \"x\".")
        #expect(CommandError.absent("x", near: nil).exit == .notFound)
    }

    @Test(arguments: [
        (VaultError.Code.absent, "absent", ExitCode.notFound, nil as String?),
        (.noVault, "no-vault", .notFound, "vault init"),
        (.gone, "gone", .refused, "vault init"),
        (.exists, "exists", .refused, nil),
        (.invalid, "invalid", .usage, nil),
        (.locked, "locked", .locked, nil),
        (.damaged, "damaged", .damaged, nil),
        (.busy, "busy", .busy, "--timeout"),
        (.unavailable, "unavailable", .inputOutput, nil),
        (.outcomeUnknown, "outcome-unknown", .inputOutput, "vault verify"),
        (.wrongType, "wrong-type", .other, nil),
        (.rolledBack, "rolled-back", .alarm, "--accept-rolled-back"),
        (.diverged, "diverged", .alarm, "--accept-diverged"),
        (.exchanged, "exchanged", .alarm, "--accept-exchanged"),
    ])
    func eachErrorOfTheLibraryHasItsExitCode(code: VaultError.Code, name: String, exit: ExitCode, hint: String?) {
        let row = CommandError.row(of: code)
        #expect(row.code == name)
        #expect(row.exit == exit)
        #expect((row.hint == nil) == (hint == nil))
        if let hint { #expect(row.hint?.contains(hint) == true) }
        #expect(HelpTopic.jsonText.contains(name), "the code is documented")
    }

    @Test(arguments: [
        (VaultError.Cause.homeUnset, ["--vault", "--key-file"]),
        (.oneFileForVaultAndKey, ["--vault", "--key-file"]),
        (.unexpandedTilde(path: "~/x", isKeyFile: false), ["`--vault ~/x` without quotes"]),
        (.unexpandedTilde(path: "~/x", isKeyFile: true), ["`--key-file ~/x` without quotes"]),
        (.keyFileMissing, ["--key-file PATH", "VAULT_KEY_FILE"]),
        (.keyFileShared, ["--accept-shared-key"]),
        (.keySecretMissing(2), ["--file 2=PATH", "--drop 2"]),
        (.passphraseMissing(2), ["terminal", "--drop 2"]),
        (.passphraseNeeded, ["terminal", "`vault unlock`"]),
        (.commandUntrusted, ["--key-command"]),
        (.identityMissing, ["--identity"]),
        (.fingerprintUnknown, ["--vault-fingerprint"]),
        (.lastMember, ["use --force"]),
        (.policySet("a b", isExpired: false), ["`vault attr 'a b' policy=`"]),
        (.policySet("a b", isExpired: true), ["Set it again first.", "`vault attr 'a b' policy=`"]),
        (.fieldLeft("a b.otp", policy: "run"), ["`vault attr 'a b.otp' policy=run`"]),
        (.valuesLeft, ["`vault compact`"]),
        (.accessLogUnusable, ["be read only if the log can be written", "`vault log --off`"]),
        (.targetLacked("/v/a b", target: "/v/t", isOffline: false), ["`vault --vault '/v/a b' merge '/v/t'`"]),
        (
            .targetLacked("db:1", target: "db:2", isOffline: true),
            ["`vault --vault 'db:1' --offline backup FILE`", "`vault --vault 'db:2' merge FILE`"]
        ),
        (.damagedVault("/v/a b"), ["`vault --vault '/v/a b' salvage OUT`"]),
        (.usedUpVault("/v/a b"), ["`vault --vault '/v/a b' salvage NEW`", "`vault help salvage`"]),
        (.unusableCopy(.damaged), ["still being copied", "merge again"]),
        (.copyKept("/v/a b", isComplete: true), ["`vault merge '/v/a b'`"]),
        (.copyKept("/v/a b", isComplete: false), ["incomplete", "`vault --vault '/v/a b' salvage OUT`"]),
    ])
    func whatTheCodeDoesNotTellApartHasAHintOfItsOwn(cause: VaultError.Cause, words: [String]) {
        let message = CommandError(VaultError(.locked, "The sentence.", causes: [cause]), advising: AdvisedCommand())
            .message
        #expect(message.hasPrefix("The sentence. ") && message.hasSuffix("."))
        for word in words { #expect(message.contains(word)) }
    }

    /// The variable does not apply to a vault that is named by its section.
    @Test func theAdviceForAMissingKeyFileFitsTheVault() {
        func message(_ vault: (String?, String?)) -> String {
            let error = VaultError(.locked, "The sentence.", causes: [.keyFileMissing])
            return CommandError(error, advising: AdvisedCommand(vault: vault)).message
        }
        for vault in [(nil, "/v/default.vault"), ("/v/a.vault", "/v/a.vault")] as [(String?, String?)] {
            #expect(message(vault).hasSuffix("use --key-file PATH, or set VAULT_KEY_FILE."))
        }
        #expect(
            message(("work", "/v/a.vault")).hasSuffix(
                "use --key-file PATH, or write `key-file = PATH` in the section [work] of the configuration."))
    }

    @Test func eachOfSeveralCausesHasItsHint() {
        let error = VaultError(.locked, "The sentence.", causes: [.keyFileMissing, .passphraseNeeded])
        let message = CommandError(error, advising: AdvisedCommand()).message
        #expect(message.contains("--key-file") && message.contains("`vault unlock`"))
    }

    @Test func exitCodesAreStable() {
        let numbers: [ExitCode: Int32] = [
            .success: 0, .other: 1, .usage: 2, .notFound: 3, .refused: 4, .locked: 5, .damaged: 6, .busy: 7,
            .inputOutput: 8, .alarm: 9, .expiring: 10,
            .notStarted: 125, .notExecutable: 126, .notInstalled: 127,
        ]
        #expect(numbers.count == ExitCode.allCases.count)
        for (code, number) in numbers { #expect(code.rawValue == number) }
    }
}
