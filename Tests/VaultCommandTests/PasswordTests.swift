import Sealing
import TestSupport
import Testing

@testable import VaultCommand

@Suite("Passwords")
struct PasswordTests {
    /// Random bytes that a seed gives, or those of a list, and then the same again.
    private func numbers(seed: Int) throws -> UniformNumbers {
        var random = SeededGenerator(seed)
        return try UniformNumbers { $0.copyBytes(from: random.bytes($0.count)) }
    }

    private func numbers(_ listed: [UInt16]) throws -> UniformNumbers {
        try UniformNumbers { memory in
            for index in 0..<memory.count / 2 {
                memory.storeBytes(of: listed[index % listed.count], toByteOffset: index * 2, as: UInt16.self)
            }
        }
    }

    private func text(_ secret: borrowing SecretBytes) -> String {
        String(decoding: secret.unsafeArray(), as: UTF8.self)
    }

    /// Returns how far draws are from being equally likely: Pearson's chi-square, less what it is on average, in
    /// standard deviations. The seeds are fixed, so a test that passes does so in every run.
    private func deviation<Drawn: Hashable>(
        of possibilities: Int, _ draw: () throws -> Drawn
    ) rethrows -> Double {
        let average = max(10, 10_000 / possibilities)
        var counts: [Drawn: Int] = [:]
        for _ in 0..<possibilities * average { counts[try draw(), default: 0] += 1 }
        // What was never drawn, and should have been, counts too.
        let squares = counts.values.reduce((possibilities - counts.count) * average * average) {
            $0 + ($1 - average) * ($1 - average)
        }
        let freedom = Double(possibilities - 1)
        return abs(Double(squares) / Double(average) - freedom) / (2 * freedom).squareRoot()
    }

    @Test(arguments: [2, 10, 26, 94, 1_000, 7_776]) func allNumbersAreEquallyLikely(below bound: Int) throws {
        var numbers = try numbers(seed: bound)
        #expect(deviation(of: bound) { numbers.next(below: bound) } < 5)
    }

    /// Bounds whose remainders favour the first numbers strongly, if none is drawn again: 1.5 times as likely, and
    /// twice.
    @Test(arguments: [26_214, 40_000]) func noRemainderIsMoreLikely(below bound: Int) throws {
        var numbers = try numbers(seed: bound)
        #expect(deviation(of: bound) { numbers.next(below: bound) } < 5)
    }

    @Test func numbersPastTheLastWholeMultipleAreDrawnAgain() throws {
        // 65,536 is 6,553 times 10, and 6.
        var numbers = try numbers([65_535, 65_530, 65_529, 7, 65_531, 20])
        let drawn = (0..<3).map { _ in numbers.next(below: 10) }
        #expect(drawn == [9, 7, 0])
    }

    @Test func aPasswordWithoutAClassIsDrawnAgainAsAWhole() throws {
        let recipe = try #require(PasswordRecipe(length: 3, classes: [.lower, .digits]))
        // a, b, c; then 1, 2, 3; then a, 1, c.
        var numbers = try numbers([0, 1, 2, 27, 28, 29, 0, 27, 2])
        #expect(text(try recipe.password(from: &numbers)) == "a1c")
    }

    /// All passwords of two characters that have a letter and a digit: to draw only the missing class again would make
    /// those with the digit at the end more likely.
    @Test func allPasswordsAreEquallyLikely() throws {
        let recipe = try #require(PasswordRecipe(length: 2, classes: [.lower, .digits]))
        var numbers = try numbers(seed: 5)
        let deviation = try deviation(of: 2 * 26 * 10) { try recipe.password(from: &numbers).unsafeArray() }
        #expect(deviation < 5)
    }

    @Test func entropyIsTheLogarithmOfTheNumberOfPasswords() throws {
        let pair = try #require(PasswordRecipe(length: 2, classes: [.lower, .digits]))
        #expect(abs(pair.entropy - 9.0224) < 0.0001, "log2(2 * 26 * 10)")
        let digits = try #require(PasswordRecipe(length: 5, classes: [.digits]))
        #expect(abs(digits.entropy - 16.6096) < 0.0001, "log2(100,000)")
        let words = try #require(PassphraseRecipe(count: 1))
        #expect(abs(words.entropy - 12.9248) < 0.0001, "log2(7,776)")
    }

    @Test func recipesOutOfBoundsAreNone() {
        #expect(PasswordRecipe(length: 1, classes: [.lower, .digits]) == nil)
        #expect(PasswordRecipe(length: 4, classes: []) == nil)
        #expect(PasswordRecipe(length: 4_097, classes: [.lower]) == nil)
        for (count, separator) in [(0, "-"), (257, "-"), (2, ""), (2, "123456789"), (2, "-x-")] {
            #expect(PassphraseRecipe(count: count, separator: separator) == nil)
        }
    }

    @Test func wordsAreThoseOfTheList() throws {
        let recipe = try #require(PassphraseRecipe(count: 4, separator: ". "))
        var numbers = try numbers([0, 7_775, 7_776, 1])
        #expect(text(try recipe.passphrase(from: &numbers)) == "abacus. zoom. abacus. abdomen")
    }

    @Test func theListIsTheOneOfTheEFFAndNoTwoPassphrasesAreAlike() throws {
        let list = WordList.eff
        let words = (0..<list.count).map { index in
            var word: [UInt8] = []
            list.forEachByte(ofWord: index) { word.append($0) }
            return String(decoding: word, as: UTF8.self)
        }
        #expect(words.count == 7_776 && Set(words).count == 7_776 && words == words.sorted())
        var hash = [UInt8](repeating: 0, count: 16)
        let all = Array(words.joined(separator: " ").utf8)
        try all.withUnsafeBytes { all in try hash.withUnsafeMutableBytes { try KeyedHash.hash(all, into: $0) } }
        #expect(Hexadecimal.string(of: hash) == "99b3163f471b1df95c829f7858b1f943")
        // Otherwise, two words with the standard separator could be read as one.
        let compound = words.filter { $0.contains("-") }
        #expect(compound.allSatisfy { !$0.split(separator: "-").allSatisfy { words.contains(String($0)) } })
    }
}
