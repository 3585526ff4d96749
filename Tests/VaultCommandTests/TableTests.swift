import Testing

@testable import VaultCommand

@Suite struct TableTests {
    @Test(arguments: CommandName.allCases)
    func aRowBearsTheNameThatItIsFoundBy(name: CommandName) {
        #expect(name.description.name == name)
        #expect(!name.description.summary.isEmpty)
        #expect(!name.description.summary.hasSuffix("."))
    }

    @Test(arguments: CommandName.allCases)
    func noOptionOfACommandHidesAnother(name: CommandName) {
        let own = name.description.options
        // These two have a value of their own in place of a global option's.
        let replaced = [CommandName.unlock: OptionName.timeout, .restore: .version][name]
        let options = own + GlobalOptions.all.filter { $0.name != replaced }
        #expect(Set(options.map(\.name)).count == options.count)
        let shorts = options.compactMap(\.short)
        #expect(Set(shorts).count == shorts.count)
        #expect(shorts.allSatisfy { $0.utf8.count == 1 })
    }

    @Test func everyOptionIsInATable() {
        let described = CommandName.allCases.flatMap(\.description.options) + GlobalOptions.all
        #expect(Set(described.map(\.name)) == Set(OptionName.allCases))
    }

    @Test(arguments: CommandName.allCases)
    func onlyTheLastArgumentMayBeOptionalOrRepeated(name: CommandName) {
        #expect(name.description.arguments.dropLast().allSatisfy { $0.count == .one })
    }

    @Test(arguments: CommandName.allCases)
    func helpTellsEverythingInTheTable(name: CommandName) {
        let row = name.description
        let text = HelpText.command(row)
        #expect(text.hasPrefix("vault \(name.rawValue): \(row.summary)\n"))
        for option in row.options { #expect(text.contains(option.name.spelling)) }
        for argument in row.arguments { #expect(text.contains(argument.name)) }
        for example in row.examples { #expect(text.contains(example.line)) }
        for note in row.exitCodes { #expect(text.contains("\n  \(note.code.rawValue)  ")) }
        #expect(HelpText.short().contains("\n  \(name.rawValue) "))
    }

    @Test(arguments: CommandName.allCases)
    func examplesParse(name: CommandName) throws {
        for example in name.description.examples {
            // The part that calls the tool, without what the shell does around it.
            let calls = example.line.split(whereSeparator: { "|>".contains($0) })
            let call = try #require(calls.first { $0.drop { $0 == " " }.hasPrefix("vault ") })
            let words = CommandLineWords.split(call).dropFirst()
            #expect(try CommandLineParser.parse(Array(words)).command == name)
        }
    }

    @Test func helpFitsAnOrdinaryTerminal() {
        for (columns, width) in [(nil, 80), (80, 80), (81, 81), (100, 100), (200, 100)] {
            let text = TextLayout.fitted(allHelp, to: columns)
            for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
            #expect(TextLayout.fitted(text, to: columns) == text)
        }
    }

    @Test(arguments: [1, 5, 20, 30, 40, 41, 60, 79])
    func helpFitsANarrowTerminalWithoutBreakingWords(columns: Int) {
        let text = TextLayout.fitted(allHelp, to: columns)
        let lines = text.split(separator: "\n").filter { $0.count > columns }
        #expect(lines.allSatisfy { !$0.contains(" ") }, "only a word that is longer than the line goes beyond it")
        #expect(text.split { " \n".contains($0) } == allHelp.split { " \n".contains($0) })
    }

    private var allHelp: String {
        let texts = CommandName.allCases.map { HelpText.command($0.description) } + HelpTopic.allCases.map(\.text)
        return (texts + [HelpText.full()]).joined()
    }

    @Test func fullHelpNamesGlobalOptionsAndTopics() {
        let text = HelpText.full()
        for option in GlobalOptions.all { #expect(text.contains(option.name.spelling)) }
        for topic in HelpTopic.allCases { #expect(text.contains("help \(topic.rawValue)")) }
    }

    @Test func theHelpOnExitCodesHasThemAll() {
        for code in ExitCode.allCases {
            // The layout breaks lines.
            let words = HelpTopic.exitCodes.text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
            #expect(words.contains("\(code.rawValue) \(code.meaning)"))
        }
    }
}

/// Splits a line into words as a shell does, with single quotes alone.
private enum CommandLineWords {
    static func split(_ line: Substring) -> [String] {
        var words = [""]
        var isQuoted = false
        for character in line {
            switch character {
            case "'": isQuoted.toggle()
            case " " where !isQuoted: words.append("")
            default: words[words.count - 1].append(character)
            }
        }
        return words.filter { !$0.isEmpty }
    }
}
