import Sealing
import Vault

enum GenerateCommand: Command {
    static let description = CommandDescription(
        name: .generate, summary: "make a random password or passphrase",
        arguments: [
            .init(
                name: "NAME", count: .optional, completion: .secretName,
                help: "The name to store it under. Without one, it is written to standard output.")
        ],
        options: [
            .init(name: .length, value: "N", help: "The number of characters (default: 20)."),
            .init(
                name: .classes, value: "CLASSES",
                help: "At least one of each, with commas: lower, upper, digits, symbols (default: all four)."),
            .init(name: .noAmbiguous, help: "Leave out characters that look like others: 0 O o 1 l I |."),
            .init(name: .words, value: "N", help: "Make a passphrase of N words instead."),
            .init(
                name: .separator, value: "TEXT",
                help: "What is between two words (default: -): up to 8 bytes without lower-case letters."),
            .init(name: .force, short: "f", help: "Replace the value of NAME. Without it, that is refused."),
            .init(name: .show, help: "With NAME: write the password to standard output too."),
            ValueForm.newlineOption,
        ],
        details: [
            """
            All passwords that the options allow are equally likely. At a terminal, standard error says how many there \
            are, in bits: with n bits there are 2 to the power of n. Against guessing with a stolen hash, 80 bits are \
            enough; a service that limits attempts needs less.
            """,
            """
            With NAME, nothing shows the password unless --show is given. Attributes of NAME are kept, and a value \
            that is replaced becomes a part of its history.
            """,
            """
            The words are the EFF's large list of 7,776, by Joseph Bonneau, which is licensed under CC BY 3.0 US. Each \
            adds 12.9 bits.
            """,
        ],
        examples: [
            .init("vault generate web/github", "store a new password"),
            .init("vault generate --words 6", "a passphrase for people"),
            .init("vault generate --length 8 --classes digits", "a PIN"),
        ],
        exitCodes: [.init(.refused, "NAME has a value; --force replaces it")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let name = invocation.arguments.first
        if let name {
            try Naming.name.check(name)
        } else if let option = [OptionName.force, .show].first(where: invocation.has) {
            throw UsageError.onlyWith(option, "NAME")
        }
        let generated = try generate(invocation)
        guard let name else {
            try show(generated, invocation)
            tell("This is \(generated.what), \(generated.bits) bits of entropy.", invocation)
            return .success
        }
        let keychain = try invocation.openVault(creatingIfAbsent: true)
        let outcome = try keychain.put(name, generated.value, replacing: invocation.has(.force))
        guard outcome != .kept else {
            throw CommandError(VaultError(.exists, "\"\(name)\" already exists. Use --force to replace it."))
        }
        try show(generated, storedAs: name, in: keychain, isReplaced: outcome == .replaced, invocation)
        tell("Stored under \"\(name)\": \(generated.what), \(generated.bits) bits of entropy.", invocation)
        if outcome == .replaced { tell(try SetCommand.replacement(of: name, in: keychain), invocation) }
        invocation.tellPolicies(of: [name], in: keychain)
        keychain.finishUpkeep()
        return .success
    }

    private struct Generated: ~Copyable {
        let value: SealableValue
        /// `a password of 20 characters`
        let what: String
        /// Rounded down, to one decimal.
        let bits: Double

        init(_ text: consuming SecretBytes, _ what: String, entropy: Double) {
            value = SealableValue(kind: .unspecified, bytes: text)
            self.what = what
            bits = (entropy * 10).rounded(.down) / 10
        }
    }

    private static func generate(_ invocation: Invocation) throws -> Generated {
        var numbers = try UniformNumbers()
        if let recipe = try invocation.passphraseRecipe {
            let words = recipe.count == 1 ? "1 word" : "\(recipe.count) words"
            return Generated(
                try recipe.passphrase(from: &numbers), "a passphrase of \(words)", entropy: recipe.entropy)
        }
        let recipe = try invocation.passwordRecipe
        let characters = recipe.length == 1 ? "1 character" : "\(Quantity.number(recipe.length)) characters"
        return Generated(
            try recipe.password(from: &numbers), "a password of \(characters)", entropy: recipe.entropy)
    }

    private static func show(
        _ generated: borrowing Generated, storedAs name: String? = nil, in keychain: Keychain? = nil,
        isReplaced: Bool? = nil, _ invocation: Invocation
    ) throws {
        let isShown = name == nil || invocation.has(.show)
        if invocation.wantsJSON {
            let report: JSONObject = ["name": name, "entropy_bits": generated.bits, "replaced": isReplaced]
            let marked = report.marked(by: keychain)
            guard isShown else { return try StandardOutput.write(marked.line()) }
            try ValueForm.json(marked, "value", generated.value.bytes).withUnsafeBytes(StandardOutput.write)
        } else if isShown {
            try ValueForm(newline: invocation.newline).write(generated.value.bytes)
        }
    }

    /// For a person; scripts are told nothing that they have not asked for.
    private static func tell(_ text: String, _ invocation: Invocation) {
        if StandardError.isTerminal, !invocation.wantsJSON { Notes.tell(text) }
    }
}

extension Invocation {
    /// nil without `--words`.
    fileprivate var passphraseRecipe: PassphraseRecipe? {
        get throws(UsageError) {
            guard let text = value(of: .words) else {
                if has(.separator) { throw .onlyWithWords(.separator) }
                return nil
            }
            if let option = [OptionName.length, .classes, .noAmbiguous].first(where: has) {
                throw .notWithWords(option)
            }
            guard let count = Int(text), (1...PassphraseRecipe.longest).contains(count) else {
                throw .badWords(atMost: PassphraseRecipe.longest)
            }
            let separator = value(of: .separator) ?? PassphraseRecipe.standardSeparator
            guard let recipe = PassphraseRecipe(count: count, separator: separator) else { throw .badSeparator }
            return recipe
        }
    }

    fileprivate var passwordRecipe: PasswordRecipe {
        get throws(UsageError) {
            var classes = PasswordRecipe.CharacterClass.allCases
            if let text = value(of: .classes) {
                let named = text.split(separator: ",", omittingEmptySubsequences: false)
                classes = named.compactMap { PasswordRecipe.CharacterClass(rawValue: String($0)) }
                guard classes.count == named.count else { throw .badClasses }
            }
            let length = try number(of: .length) ?? PasswordRecipe.standardLength
            let chosen = Set(classes)
            guard let recipe = PasswordRecipe(length: length, classes: chosen, avoidsAmbiguous: has(.noAmbiguous))
            else { throw .badLength(atLeast: chosen.count, atMost: PasswordRecipe.longest) }
            return recipe
        }
    }
}
