import Vault

enum GenerateCommand: Command {
    static let description = CommandDescription(
        name: .generate, section: .values, summary: "generate a random password or passphrase",
        arguments: [
            .init(
                name: "NAME", count: .optional, completion: .secretName,
                help: "The name to store it under (default: print it instead).")
        ],
        options: [
            .init(name: .length, value: "N", help: "The number of characters (default: 20)."),
            .init(
                name: .classes, value: "CLASSES",
                help: "Use at least one of each of these: lower,upper,digits,symbols (default: all four)."),
            .init(name: .noAmbiguous, help: "Leave out characters that look alike: 0 O o 1 l I |."),
            .init(name: .words, value: "N", help: "Generate a passphrase of N words instead."),
            .init(
                name: .separator, value: "TEXT",
                help: "The text between two words (default: -): up to 8 bytes without lower-case letters."),
            .init(name: .force, short: "f", help: "Replace an existing value of NAME."),
            .init(name: .show, help: "With NAME: also write the password to standard output."),
            ValueForm.newlineOption,
        ],
        details: """
            All passwords that the options allow are equally likely. At a terminal, standard error reports their \
            number in bits: n bits mean 2^n possible passwords. Against guessing with a stolen hash, 80 bits are \
            enough; a service that limits attempts needs fewer.

            With NAME, the password is shown only with --show. Attributes of NAME are kept, and a replaced value \
            becomes part of its history.

            The words are the EFF's large list of 7,776 words, by Joseph Bonneau, licensed under CC BY 3.0 US. Each \
            word adds 12.9 bits.
            """,
        examples: [
            .init("vault generate web/github", "store a new password"),
            .init("vault generate --words 6", "generate a passphrase that is easy to remember"),
            .init("vault generate --length 8 --classes digits", "generate a PIN"),
        ],
        exitCodes: [.init(.refused, "NAME exists; use --force to replace it")])

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
            inform("This is \(generated.what), \(generated.bits) bits of entropy.", invocation)
            return .success
        }
        let keychain = try invocation.openVault(creatingIfAbsent: true)
        let outcome = try keychain.put(name, generated.value, replacing: invocation.has(.force))
        guard outcome != .kept else {
            throw VaultError(.exists, "\"\(name)\" already exists. Use --force to replace it.")
        }
        try show(generated, storedAs: name, in: keychain, isReplaced: outcome == .replaced, invocation)
        inform("Stored under \"\(name)\": \(generated.what), \(generated.bits) bits of entropy.", invocation)
        if outcome == .replaced { inform(try SetCommand.replacement(of: name, in: keychain, invocation), invocation) }
        invocation.reportPolicies(of: [name], in: keychain)
        keychain.maintenance.finishUpkeep()
        return .success
    }

    private struct Generated: ~Copyable {
        let value: SealableValue
        /// The description for messages, such as `a password of 20 characters`.
        let what: String
        /// The entropy in bits, rounded down to one decimal.
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
            return Generated(try recipe.passphrase(from: &numbers), "a passphrase of \(words)", entropy: recipe.entropy)
        }
        let recipe = try invocation.passwordRecipe
        let characters = recipe.length == 1 ? "1 character" : "\(Quantity.number(recipe.length)) characters"
        return Generated(try recipe.password(from: &numbers), "a password of \(characters)", entropy: recipe.entropy)
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

    /// Writes a message if standard error is a terminal. Scripts get no output that they did not request.
    private static func inform(_ text: String, _ invocation: Invocation) {
        if StandardError.isTerminal, !invocation.wantsJSON { Notes.inform(text) }
    }
}

extension Invocation {
    /// The recipe for a passphrase, from the options; nil if `--words` is not given.
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
