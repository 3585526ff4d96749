import Testing

@testable import VaultCommand

@Suite struct CommandLineParserTests {
    private func parse(_ line: String) throws(UsageError) -> Invocation {
        try CommandLineParser.parse(line.split(separator: " ").map(String.init))
    }

    @Test func globalOptionsStandBeforeOrAfterTheCommand() throws {
        let before = try parse("--vault v --json get u.token")
        let after = try parse("get u.token --vault=v --json")
        for invocation in [before, after] {
            #expect(invocation.command == .get)
            #expect(invocation.arguments == ["u.token"])
            #expect(invocation.value(of: .vault) == "v")
            #expect(invocation.has(.json))
        }
    }

    @Test func twoDashesEndTheOptions() throws {
        let invocation = try parse("rm --json -- --force -x --")
        #expect(invocation.arguments == ["--force", "-x", "--"])
        #expect(!invocation.has(.force))
    }

    @Test func theCommandMayFollowTheTwoDashes() throws {
        #expect(try parse("--json -- get --vault").arguments == ["--vault"])
    }

    @Test func aSingleDashIsAnArgument() throws {
        #expect(try parse("get -").arguments == ["-"])
        #expect(try parse("set n --file -").value(of: .file) == "-")
    }

    @Test func valuesMayHoldEqualsSignsAndBeEmpty() throws {
        #expect(try parse("--vault=a=b ls").value(of: .vault) == "a=b")
        #expect(try parse("init --label=").value(of: .label) == "")
        #expect(try parse("ls --vault=-v").value(of: .vault) == "-v")
    }

    @Test func shortOptionsTakeTheirValueAttachedOrNext() throws {
        let invocation = try parse("set n -aa=1 -a b=2 --attribute c=3 --attribute=d=4")
        #expect(invocation.options[.attribute] == ["a=1", "b=2", "c=3", "d=4"])
    }

    @Test func aFlagMayStandTwice() throws {
        #expect(try parse("--json rm --json -ff n").has(.force))
    }

    @Test(arguments: [
        "run --env A=b sh -c --json -- x", "run --env A=b -- sh -c --json -- x", "-- run sh -c --json -- x",
    ])
    func theWordsAfterAProgramAreItsOwn(line: String) throws {
        let invocation = try parse(line)
        #expect(invocation.arguments == ["sh", "-c", "--json", "--", "x"])
        #expect(!invocation.has(.json))
    }

    @Test func theWordsOfAProgramMayHaveAnyBytes() throws {
        var parser = CommandLineParser(["run", "sh", nil])
        #expect(try parser.parse().arguments.count == 2)
        var other = CommandLineParser(["get", nil])
        #expect(throws: UsageError.notUnicode(2)) { try other.parse() }
    }

    @Test(arguments: [
        ("get --nope --json", true), ("--vault --json ls", true), ("rm -- --json", false), ("run --nope sh", false),
        ("run --json --env A=b sh", true), ("run sh --json", false),
    ])
    func anErrorHasTheFormThatWasAskedFor(line: String, wantsJSON: Bool) {
        var parser = CommandLineParser(line.split(separator: " ").map(String.init))
        _ = try? parser.parse()
        #expect(parser.wantsJSON == wantsJSON)
    }

    @Test func whoeverAsksForHelpGetsIt() throws {
        #expect(
            try parse("set --help")
                == Invocation(command: .help, arguments: ["set"], options: [.help: []]))
        #expect(try parse("-h").arguments == [])
        #expect(try parse("mv a b c -h").arguments == ["mv"])
    }

    @Test func versionIsAnOptionToo() throws {
        #expect(try parse("--version").command == .version)
    }

    @Test(arguments: [
        ("", UsageError.noCommand),
        ("--json", .noCommand),
        ("gte x", .unknownCommand("gte", near: "get")),
        ("something", .unknownCommand("something", near: nil)),
        ("get x --jsn", .unknownOption("--jsn", of: .get, near: "--json")),
        ("get x --long", .unknownOption("--long", of: .get, near: nil)),
        ("ls -z", .unknownOption("-z", of: .list, near: nil)),
        ("ls -lz", .unknownOption("-z", of: .list, near: nil)),
        ("--vualt v ls", .unknownOption("--vualt", of: nil, near: "--vault")),
        ("--file f set n", .optionBeforeCommand(.file)),
        ("ls --vault", .missingValue(.vault, placeholder: "PATH")),
        ("--vault --json ls", .missingValue(.vault, placeholder: "PATH")),
        ("set n -a", .missingValue(.attribute, placeholder: "KEY=VALUE")),
        ("ls --vault=", .emptyPath(.vault)),
        ("set n --file=", .emptyPath(.file)),
        ("--vault a ls --vault b", .doubledOption(.vault)),
        ("ls --timeout 1 --timeout=1", .doubledOption(.timeout)),
        ("set n --file a --file b", .doubledOption(.file)),
        ("init --label a --label=", .doubledOption(.label)),
        ("ls --json=yes", .unexpectedValue(.json)),
        ("get n --newline=sometimes", .badChoice(.newline, choices: ["auto", "yes", "no"])),
        ("get", .missingArgument("NAME", of: .get)),
        ("mv a", .missingArgument("TO", of: .move)),
        ("rm", .missingArgument("NAME", of: .remove)),
        ("show a b", .surplusArgument("b", of: .show)),
        ("ls a b", .surplusArgument("b", of: .list)),
        ("info x", .surplusArgument("x", of: .info)),
        ("set n x", .surplusArgument(nil, of: .set)),
        ("run", .missingArgument("PROGRAM", of: .run)),
        ("run --env A=b --", .missingArgument("PROGRAM", of: .run)),
    ])
    func aWrongLineIsToldWhatIsWrong(line: String, expected: UsageError) {
        #expect(throws: expected) { try parse(line) }
    }

    @Test(arguments: [
        "set n hunter2", "set hunter2 hunter2", "set n --hunter2", "set n -hunter2", "set n --value=hunter2",
        "set n --exact=hunter2", "set n -- hunter2", "set n --hunter2=hunter2",
    ])
    func noErrorOfSetRepeatsWhatWasTyped(line: String) throws {
        let error = try #require(throws: UsageError.self) { try parse(line) }
        #expect(!error.description.contains("hunter2"))
        #expect(CommandError(error, advising: AdvisedCommand()).exit == .usage)
    }

    @Test func aMistypedOptionOfSetStillGetsAHint() {
        #expect(throws: UsageError.unknownOption(nil, of: .set, near: "--exact")) { try parse("set n --exat") }
    }
}
