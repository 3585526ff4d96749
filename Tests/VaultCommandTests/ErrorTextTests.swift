import Testing
import Vault

@testable import VaultCommand

@Suite struct ErrorTextTests {
    private static let rightWays = """
        A value is never an argument: the shell's history and the list of processes would show it. Use one of:
          vault set NAME                  (asks for the value and does not show it)
          a-program | vault set NAME
          vault set NAME --file PATH
        """

    @Test(arguments: [
        (UsageError.noCommand, "Name a command; `vault help` lists them."),
        (
            .unknownCommand("gte", near: "get"),
            "There is no command \"gte\". Did you mean \"get\"? `vault help` lists the commands."
        ),
        (.unknownCommand("x", near: nil), "There is no command \"x\". `vault help` lists the commands."),
        (
            .unknownOption("--jsn", of: .get, near: "--json"),
            "There is no option --jsn of `vault get`. Did you mean \"--json\"? See `vault help get`."
        ),
        (.unknownOption("-z", of: nil, near: nil), "There is no option -z. See `vault help`."),
        (.unknownOption(nil, of: .set, near: nil), "There is no such option of `vault set`. See `vault help set`."),
        (.optionBeforeCommand(.file), "The option --file belongs to a command and stands after its name."),
        (
            .missingValue(.vault, placeholder: "PATH"),
            "The option --vault needs a value. One that begins with a dash is written --vault=PATH."
        ),
        (.emptyPath(.vault), "The option --vault needs a path, but got an empty one."),
        (.doubledOption(.file), "The option --file is given twice; it takes one value."),
        (.unexpectedValue(.json), "The option --json takes no value."),
        (.badChoice(.newline, choices: ["auto", "yes", "no"]), "The option --newline takes one of: auto, yes, no."),
        (.badTimeout, "The option --timeout takes seconds, from 0 to 1000000, such as 2.5."),
        (.missingArgument("NAME", of: .get), "`vault get` needs a NAME. See `vault help get`."),
        (.surplusArgument("b", of: .get), "`vault get` takes no further argument \"b\". See `vault help get`."),
        (
            .surplusArgument(nil, of: .set),
            rightWays
        ),
        (.badAttribute, "An attribute is written KEY=VALUE, and its key is not empty."),
        (.doubledAttribute, "An attribute's key is given twice."),
        (
            .valueInName,
            "A NAME with an equals sign is accepted from a pipe or with --file only: it looks as if it held the value. "
                + rightWays
        ),
        (
            .visibleInput("Standard input"),
            "Standard input is a terminal, which would show the value as it is typed. Leave --file out to type it "
                + "hidden, or pipe it in."
        ),
        (.notUnicode(2), "Argument 2 is not valid UTF-8. Names and paths are UTF-8."),
        (
            .unknownTopic("jsn", near: "json"),
            "There is no help for \"jsn\". Did you mean \"json\"? `vault help` lists what there is."
        ),
    ])
    func usage(error: UsageError, text: String) {
        #expect(error.description == text)
        #expect(CommandError(error) == CommandError(code: "usage", exit: .usage, message: text))
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
        (.damaged, "damaged", .damaged, "vault salvage"),
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
        (.keyFileMissing, ["--key-file"]),
        (.keyFileShared, ["--accept-shared-key"]),
    ])
    func whatTheCodeDoesNotTellApartHasAHintOfItsOwn(cause: VaultError.Cause, words: [String]) {
        let message = CommandError(VaultError(.locked, "The sentence.", cause: cause)).message
        #expect(message.hasPrefix("The sentence. ") && message.hasSuffix("."))
        for word in words { #expect(message.contains(word)) }
    }

    @Test func exitCodesAreStable() {
        let numbers: [ExitCode: Int32] = [
            .success: 0, .other: 1, .usage: 2, .notFound: 3, .refused: 4, .locked: 5, .damaged: 6, .busy: 7,
            .inputOutput: 8, .alarm: 9,
        ]
        #expect(numbers.count == ExitCode.allCases.count)
        for (code, number) in numbers { #expect(code.rawValue == number) }
    }
}
