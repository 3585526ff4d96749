import Sealing
import TestSupport
import Testing

@testable import SealedFormat

@Suite("Shares of a key file")
struct KeyShareTests {
    private let key: [UInt8]
    /// The lines of five shares, any three of which restore the key.
    private let lines: [String]
    /// With their comments.
    private let texts: [String]

    init() throws {
        let file = try KeyFile.generate()
        key = file.secret.unsafeArray()
        texts = try KeyShareTests.texts(of: file, 3, of: 5)
        lines = try texts.map { text in
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            try #require(lines.count == 1)
            return String(lines[0])
        }
    }

    private static func texts(of file: borrowing KeyFile, _ threshold: Int, of count: Int) throws -> [String] {
        let shares = try file.shares(count, threshold: threshold)
        return try (1...count).map { index in
            let text = try shares.text(at: index).unsafeString()
            return try #require(text)
        }
    }

    private func join(_ text: [UInt8]) throws(LogError) -> [UInt8] {
        try KeyFile.join(translated(SecretBytes(copyOf: text))).secret.unsafeArray()
    }

    private func join(_ text: String) throws(LogError) -> [UInt8] { try join(Array(text.utf8)) }

    private func joined(_ lines: [String]) throws(LogError) -> [UInt8] { try join(lines.joined(separator: "\n")) }

    private func error(_ text: String) throws -> LogError {
        try #require(throws: LogError.self) { _ = try join(text) }
    }

    /// Writes a share's line with other fields and the checksum for them.
    private func line(_ set: String, _ threshold: Int, of count: Int, _ index: Int, share: String) throws -> String {
        let label = KeyShareLabel(set: set, threshold: threshold, count: count, index: index)
        var bytes = try SecretBytes(zeros: KeyFile.shareSize)
        let isDecoded = bytes.withUnsafeMutableBytes { bytes in
            Array(share.utf8).withUnsafeBytes { Hexadecimal.decode($0, into: bytes) }
        }
        try #require(isDecoded)
        return "\(label.text)\(share)-\(Hexadecimal.string(of: try KeyFile.checksum(of: label, bytes)))"
    }

    private func fields(_ line: String) -> [String] { line.split(separator: "-").map(String.init) }

    // MARK: Splitting

    @Test func areOneLineEachAndSayWhatTheyAre() throws {
        let set = fields(lines[0])[4]
        for (index, (text, line)) in zip(texts, lines).enumerated() {
            let form = /vault-key-share-1-[0-9a-f]{8}-3of5-[1-5]-[0-9a-f]{80}-[0-9a-f]{8}/
            #expect(line.wholeMatch(of: form) != nil)
            #expect(line.hasPrefix("vault-key-share-1-\(set)-3of5-\(index + 1)-"))
            #expect(text.hasPrefix("# Share \(index + 1) of 5 of a vault's key: any 3 of them restore the key file"))
            #expect(text.hasSuffix("\n\(line)\n"))
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 128 })
        }
        // Another splitting, even of the same key, is another set.
        let file = try KeyFile.join(SecretBytes(copyOf: Array(lines.joined(separator: "\n").utf8)))
        let again = try KeyShareTests.texts(of: file, 3, of: 5)
        #expect(!again[0].contains(set))
    }

    @Test func restoreTheKeyFileAsItWas() throws {
        let file = try KeyFile.generate()
        let texts = try KeyShareTests.texts(of: file, 2, of: 3)
        let joined = try KeyFile.join(SecretBytes(copyOf: Array((texts[2] + texts[0]).utf8)))
        #expect(joined.kind == .generated)
        #expect(joined.sharing == nil)
        #expect(try joined.text().isEqual(to: file.text()))
    }

    @Test func restoreItByAnyThreeOrMore() throws {
        for choice in 0..<32 where choice.nonzeroBitCount >= 3 {
            let chosen = lines.indices.filter { choice >> $0 & 1 == 1 }
            #expect(try joined(chosen.map { lines[$0] }) == key)
            #expect(try joined(chosen.reversed().map { texts[$0] }) == key)
        }
    }

    @Test(arguments: [(2, 2), (2, 32), (32, 32)]) func restoreItAtTheBounds(threshold: Int, count: Int) throws {
        let file = try KeyFile.generate()
        let texts = try KeyShareTests.texts(of: file, threshold, of: count)
        #expect(try join(texts.suffix(threshold).joined()) == file.secret.unsafeArray())
        #expect(try join(texts.joined()) == file.secret.unsafeArray())
    }

    @Test func areNotMadeOutOfBounds() throws {
        let file = try KeyFile.generate()
        for (threshold, count) in [(1, 1), (1, 2), (0, 5), (3, 2), (2, 33), (-1, -1)] {
            #expect(try LogError.code { _ = try file.shares(count, threshold: threshold) } == .invalid)
        }
        let shares = try file.shares(3, threshold: 2)
        for index in [.min, 0, 4, .max] {
            #expect(try LogError.code { _ = try shares.text(at: index) } == .invalid)
        }
        let other = KeyFile(
            kind: .other, sharing: nil, secret: try SecretBytes(copyOf: [UInt8](repeating: 1, count: 32)))
        #expect(try LogError.code { _ = try other.shares(3, threshold: 2) } == .invalid)
    }

    @Test func areNeverTakenForAKeyFile() throws {
        for text in texts + lines + [lines.joined(separator: "\n"), lines[0].uppercased()] {
            let memory = [UInt8](repeating: 0, count: KeyFile.parsingRoom) + Array(text.utf8)
            let code = try LogError.code { _ = try KeyFile.parse(SecretBytes(copyOf: memory), of: "k", nil) }
            #expect(code == .keyDamaged)
        }
    }

    // MARK: Tolerance

    @Test func areReadBetweenCommentsAndBlanksInEitherCase() throws {
        let three = lines[..<3]
        for separator in ["\n", "\r\n", "\r", "\n\n", " \n\t", "\n# mine\n", "\r\n  # theirs\r\n\r\n"] {
            let text = three.joined(separator: separator)
            for form in [text, text.uppercased(), separator + text + separator] { #expect(try join(form) == key) }
        }
    }

    @Test func areCountedOnceEach() throws {
        #expect(try joined([lines[0], lines[1], lines[0].uppercased(), lines[2], lines[1]]) == key)
        #expect(try error([lines[0], lines[0], lines[1]].joined(separator: "\n")).code == .invalid)
    }

    // MARK: Errors

    @Test func thatAreTooFewAreCounted() throws {
        #expect(
            try error(lines[0])
                == LogError(.invalid, "1 of 3 shares was given; 2 more are needed"))
        #expect(
            try error(lines[0] + "\n" + lines[4])
                == LogError(.invalid, "2 of 3 shares were given; one more is needed"))
    }

    @Test func thatAreMissingAreAskedFor() throws {
        for text in ["", "\n", "# a comment\r\n", " \t\n\n"] {
            #expect(
                try error(text)
                    == LogError(.keyUnsuitable, "the input contains no share; a share begins with vault-key-share-"))
        }
    }

    @Test func thatAreMistypedAreNamedByTheirLine() throws {
        let expected = LogError(
            .keyDamaged, "the share in line 3 was mistyped, truncated or altered; compare it with the original")
        let line = Array(lines[1].utf8)
        let prefix = "vault-key-share-1".utf8.count
        for offset in prefix..<line.count {
            for letter in Array("0f-gO x#\0".utf8) where letter | 0x20 != line[offset] | 0x20 {
                var mistyped = line
                mistyped[offset] = letter
                // The version has a digit more then.
                if offset == prefix, letter != UInt8(ascii: "-"), (0x30...0x39).contains(letter) { continue }
                let text = Array("# mine\r\n\(lines[0])\n".utf8) + mistyped + Array("\n\(lines[2])".utf8)
                #expect(throws: expected) { _ = try join(text) }
            }
        }
        for length in prefix..<line.count {
            #expect(throws: expected) { _ = try join(Array("\(lines[0])\n\n".utf8) + line[..<length]) }
            #expect(throws: expected) { _ = try join(Array("\r\r".utf8) + line[..<length] + line[(length + 1)...]) }
        }
        for more in ["0", "-", "-00", " 0", lines[0]] {
            #expect(throws: expected) { _ = try join("\n\n\(lines[1])\(more)") }
        }
    }

    @Test func areTheOnlyLinesBesideComments() throws {
        let advice = "is neither a share nor a comment; remove it or correct it"
        let keyLine = "vault-key-1-" + String(repeating: "0", count: 64)
        for other in ["Dear all,", keyLine, "\"" + lines[1], "vault-key-share", "\u{FEFF}" + lines[1], "\0", "KEY=x"] {
            #expect(try error("\(lines[0])\r\n\(other)\r\n\(lines[2])") == LogError(.keyUnsuitable, "line 2 \(advice)"))
        }
    }

    @Test func ofALaterVersionAreNotRead() throws {
        for version in ["2", "10", "9999", "0", "01"] {
            let later = try error(lines[0].replacing("-share-1-", with: "-share-\(version)-"))
            #expect(later.code == .keyUnsuitable)
            #expect(
                later.detail.hasPrefix("the share in line 1 has a later format; use a later version"))
        }
        for version in ["", "x", "1a", "99999", "-1"] {
            #expect(try error(lines[0].replacing("-share-1-", with: "-share-\(version)-")).code == .keyDamaged)
        }
    }

    @Test func ofDifferentSetsAreNotJoined() throws {
        let others = try KeyShareTests.texts(of: KeyFile.generate(), 2, of: 2)
        let sets = (fields(lines[0])[4], fields(String(others[1].split(separator: "\n")[2]))[4])
        #expect(
            try error(lines[0] + "\n" + lines[1] + "\n" + others[1])
                == LogError(
                    .invalid,
                    "lines 1 and 5 are shares of different sets, \(sets.0)-3of5 and \(sets.1)-2of2; "
                        + "join the shares of one set"))
    }

    @Test func thatContradictEachOtherAreNotJoined() throws {
        let own = fields(lines[0])
        let forged = try line(own[4], 3, of: 5, 1, share: fields(lines[1])[7])
        #expect(
            try error([lines[1], lines[0], forged].joined(separator: "\n"))
                == LogError(
                    .keyDamaged, "lines 2 and 3 are both share 1, but differ; compare them with the original"))
    }

    @Test(arguments: ["0000000g", "1234567", "123456789", "\u{1B}[31m000"])
    func whoseSetIsNotAsItIsWrittenAreMistyped(_ set: String) throws {
        #expect(try error(line(set, 3, of: 5, 1, share: fields(lines[0])[7])).code == .keyDamaged)
    }

    @Test func thatWereForgedWithTheirChecksumRestoreNoKey() throws {
        let own = fields(lines[0])
        let expected = LogError(
            .keyDamaged,
            "the shares restore no valid key, so at least one of them is not genuine; join other shares of the set")
        for digit in [0, 63, 64, 79] {
            var share = Array(own[7].utf8)
            share[digit] = share[digit] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            let forged = try line(own[4], 3, of: 5, 1, share: String(decoding: share, as: UTF8.self))
            #expect(try error([forged, lines[1], lines[2]].joined(separator: "\n")) == expected)
            #expect(try error([forged] + lines[1...]).code == .keyDamaged)
        }
        // Of a lower threshold than they have.
        let two = try (0..<2).map { try line(own[4], 2, of: 5, $0 + 1, share: fields(lines[$0])[7]) }
        #expect(try error(two) == expected)
    }

    private func error(_ lines: [String]) throws -> LogError { try error(lines.joined(separator: "\n")) }

    @Test func areNeverShownByAnError() throws {
        let digits = fields(lines[1])[7]
        for offset in stride(from: 0, to: lines[1].utf8.count, by: 3) {
            var line = lines[1]
            line.insert("-", at: line.index(line.startIndex, offsetBy: offset))
            let detail = try error([lines[0], line, lines[2]]).detail
            let pieces = (0...72).map { digits.dropFirst($0).prefix(8) }
            #expect(!pieces.contains { detail.contains($0) })
        }
    }
}

/// In a process of its own, whose whole memory is looked through: nothing else works there meanwhile.
@Suite("What shares leave in memory", .disabled(if: MemoryScan.obstacle != nil, "\(MemoryScan.obstacle ?? "")"))
struct KeyShareMemoryTests {
    @Test func nothingOfTheKeyAndOfTheShares() async {
        await #expect(processExitsWith: .success) {
            let key = try KeyFile.generate()
            let shares = try key.shares(3, threshold: 2)
            // The lines of two shares, as a person would give them.
            var both = try SecretBytes(zeros: shares.text(at: 1).count * 2)
            try MemoryScan.farDown {
                for index in 1...2 {
                    let text = try shares.text(at: index)
                    let start = (index - 1) * text.count
                    both.withUnsafeMutableBytes { both in
                        text.withUnsafeBytes {
                            UnsafeMutableRawBufferPointer(rebasing: both[start...]).copyMemory(from: $0)
                        }
                    }
                }
                let isEqual = try KeyFile.join(both).secret.isEqual(to: key.secret)
                #expect(isEqual)
            }
            #expect(try MemoryScan.copies(of: key.secret) == [])
            #expect(try MemoryScan.copies(of: shares.sharing.share(at: 2)) == [])
            var digits = try SecretBytes(zeros: KeyFile.shareSize * 2)
            digits.withUnsafeMutableBytes { digits in
                both.withUnsafeBytes { both in
                    let end = both.count - KeyFile.shareSumSize * 2 - 2
                    digits.copyMemory(from: UnsafeRawBufferPointer(rebasing: both[(end - digits.count)..<end]))
                }
            }
            #expect(try MemoryScan.copies(of: digits) == [])
        }
    }
}
