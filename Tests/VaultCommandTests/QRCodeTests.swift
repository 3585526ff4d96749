import Testing
import Vault

@testable import VaultCommand

@Suite("QR codes")
struct QRCodeTests {
    private struct Drawing: CustomTestStringConvertible {
        let text: String
        let version: Int
        let expected: String
        var testDescription: String { "version \(version)" }
    }

    // By libqrencode 4.1.1: `qrencode -8 -l M -t UTF8i -m 4 -r FILE`, without the quiet zone and the spaces at the ends
    // of lines.
    private static let drawings = [
        Drawing(text: "Hello, vault", version: 1, expected: smallest),
        Drawing(
            text: "vault-key-share-1-00000000-3of5-1-" + String(repeating: "0123456789abcdef", count: 5) + "-00000000",
            version: 8, expected: ofAShare),
    ]

    private func lines(_ code: borrowing QRCode, colored: Bool = false) throws -> [Substring] {
        let text = try code.rendered(colored: colored).unsafeString()
        let lines = try #require(text).split(separator: "\n", omittingEmptySubsequences: false)
        try #require(lines.last == "")
        return lines.dropLast()
    }

    @Test(arguments: drawings) private func areThoseOfAnotherEncoder(_ drawing: Drawing) throws {
        let code = try QRCode(Array(drawing.text.utf8).span.bytes)
        let number = code.version.number
        #expect(number == drawing.version)
        let drawn = try lines(code).map { line in
            String(String(line.dropFirst(QRCode.quietZone).reversed().drop { $0 == " " }.reversed()))
        }
        #expect(drawn.filter { !$0.isEmpty } == drawing.expected.split(separator: "\n").map(String.init))
    }

    @Test(arguments: drawings) private func haveTheirSizeAndAQuietZone(_ drawing: Drawing) throws {
        let code = try QRCode(Array(drawing.text.utf8).span.bytes)
        let width = code.width
        let height = code.height
        #expect(width == 4 * drawing.version + 17 + 8)
        let lines = try lines(code)
        #expect(lines.count == height)
        #expect(lines.allSatisfy { $0.count == width && $0.hasPrefix("    ") && $0.hasSuffix("    ") })
        for line in lines.prefix(2) + lines.suffix(2) { #expect(line.allSatisfy { $0 == " " }) }
        #expect(lines[2].contains("█") && lines[lines.count - 3].contains { $0 != " " })
    }

    @Test func areBlackOnWhiteOnATerminal() throws {
        let code = try QRCode(Array("Hello, vault".utf8).span.bytes)
        let plain = try lines(code)
        let colored = try lines(code, colored: true)
        #expect(colored == plain.map { "\u{1b}[38;5;16;48;5;231m\($0)\u{1b}[0m" })
    }

    // Table 7 of the standard, level M.
    @Test func areAsLargeAsTheBytesNeed() throws {
        let capacities = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213]
        #expect(QRCode.capacity == capacities.last)
        for (index, capacity) in capacities.enumerated() {
            #expect(QRVersion.smallest(for: capacity)?.number == index + 1)
            #expect(QRVersion.smallest(for: capacity + 1)?.number == (index < 9 ? index + 2 : nil))
        }
        let number = try QRCode([UInt8]().span.bytes).version.number
        #expect(number == 1)
        #expect(throws: SealingError(.length)) { _ = try QRCode([UInt8](repeating: 0, count: 214).span.bytes) }
    }

    @Test func differInTheirMasksAlone() throws {
        let payload = Array("Hello, vault".utf8)
        for mask in QRMask.allCases {
            let code = try QRCode(payload.span.bytes, mask: mask)
            var bare = try QRMatrix(code.version)
            try bare.fill(with: QRCodewords.encode(payload.span.bytes, for: code.version))
            for row in 0..<code.version.size {
                for column in 0..<code.version.size where !bare.isFunction(row, column) {
                    let isInverted = code.matrix[row, column] != bare[row, column]
                    #expect(isInverted == mask.selects(row, column))
                }
            }
        }
    }

    // Annex I.2: "01234567" in version 1.
    @Test func haveTheCheckWordsOfTheStandardsExample() {
        let data: [UInt8] = [16, 32, 12, 86, 97, 128, 236, 17, 236, 17, 236, 17, 236, 17, 236, 17]
        var check = [UInt8](repeating: 0, count: 10)
        check.withUnsafeMutableBytes { check in
            data.withUnsafeBytes { QRCodewords.divide($0[...], by: QRCodewords.generator(ofDegree: 10), into: check) }
        }
        #expect(check == [0xA5, 0x24, 0xD4, 0xC1, 0xED, 0x36, 0xC7, 0x87, 0x2C, 0x55])
    }

    // Annexes C.2 and D.2.
    @Test func haveTheFormatAndVersionOfTheStandardsExamples() {
        #expect(QRMatrix.withCheck(0b00101, degree: 10, generator: 0x537) == 0b00101_0011011100)
        #expect(QRMatrix.withCheck(7, degree: 12, generator: 0x1F25) == 0b000111_110010010100)
    }

    @Test func divideAllTheirDataAmongTheBlocks() {
        for number in 1...10 {
            let version = (0...QRCode.capacity).lazy.compactMap(QRVersion.smallest).first { $0.number == number }
            guard let version else {
                Issue.record("no version \(number)")
                continue
            }
            let blocks = version.blocks
            #expect(blocks.flatMap { Array($0) } == Array(0..<version.dataCodewords))
            #expect(blocks.count == version.blockCount)
            #expect(zip(blocks, blocks.dropFirst()).allSatisfy { $0.count <= $1.count && $1.count <= $0.count + 1 })
        }
    }

    private static let smallest = """
        █▀▀▀▀▀█ █▀ █▀ █▀▀▀▀▀█
        █ ███ █ ▄█▄█  █ ███ █
        █ ▀▀▀ █  ▀▄   █ ▀▀▀ █
        ▀▀▀▀▀▀▀ █ ▀ ▀ ▀▀▀▀▀▀▀
        ▀ ▀▀▄█▀█▄▄  ▄▄▀ ▄█▄▀█
         ▀▄▄█▄▀▀▄ █ █  ▀▄▄ █▀
        ▀ ▀ ▀ ▀▀██▀█  █▀▄ ▄ █
        █▀▀▀▀▀█ █▀▀ ▄▄ ▄▀▄▄
        █ ███ █ ▄█▄▄▄▀ ▀▀███
        █ ▀▀▀ █ ▀█▄█▀█▄█▄ ▀ ▄
        ▀▀▀▀▀▀▀ ▀ ▀▀▀▀▀▀  ▀
        """

    private static let ofAShare = """
        █▀▀▀▀▀█  █▀ ▀▀███▄█ █▀▄█▀▀▀▀█▀▄▄█▄▀▄ ▄▄▄█ █▀▀▀▀▀█
        █ ███ █ █▀ ▀▄▄▄▀▄▀█▀ ▀▄▄▀▄▄▄▀ █▄▀ ▀▀▄▄ █▀ █ ███ █
        █ ▀▀▀ █ █  █ ▄ ██▄▄▀███▀▀▀█▀ ▄▀█ ▀▄ ▀█▄   █ ▀▀▀ █
        ▀▀▀▀▀▀▀ █ █ ▀▄█ █ █▄█ █ ▀ █▄█ ▀▄█▄▀▄▀▄▀ █ ▀▀▀▀▀▀▀
        ▀▄█▀█▀▀  █ █▀▄█▄▀▀▄▄▀▄█▀▀█▀  ██  ▄▀ ▀▄ ▀▄ █▀▀█▀▄
         ▀▄▄▄▄▀▄ █▄▄ ██  █▀█   █ ▄▀ ▄▄▄▄█▄█ ▀ ▀▀██  ▄   █
        █▀█ ▄▄▀▀█▀▄█  █▀ ▄▀▀ █▀ █ ▀▀  ▄    ▄█▀▀▄▀███ █▀▀▀
        █▀▄▀██▀▀▀▀▀▀▄ ██▄▄ ▀ ▄ ▄ █▀ ▀▀▄▄ █▀██▀▀█▀  █▄█ ▀▀
         ▀▄▄▄█▀ ▄▀ ▄  ▄▀▄ ▄▄▀▄  ▀▀ ▀ ▀█▄ ▄ ▄█▀ ▀▀██  ▄▀█▀
        ▀   ██▀▄  ▀▀  █ █▄▄▄ ▄  ▀▀▀▀▄▀█ ▄▄ ▄▀▀ ▄▀▄▄ █  ▄█
        █▀▀▀█ ▀ ▄▄  ████▀ ▀▀▀▀▀▄█▀ ▀▄ █▀ ▄ ▄▀█▀█▀ ▄   ▀▀
        ▄▄▄ █▀▀▀█▀▀█▀▀█▀▄▀▀█▀██▀▀▀██▄▀▄█▄▀▀█▀▄▀▄█▀▀▀█▄ ██
        █▀▄▀█ ▀ █▀▄▀▄▄█▀▄▀ ▀▀██ ▀ █▄ ██▄▄█ ▄██ ▀█ ▀ █▄▀▄
        █   █▀▀██▄▀▀ █▄▄▄  ▀ ▄████▀▄▄ ▄█▄▄▀ ▀▄▀█▀█▀█▀▀▀▄▀
        ▀▀▀█▄█▀▀▄▀▀█▄▀▄ ▀ ▀▄▄█▄▀████  █    ▀▀  █  █▀▀█▀▄▀
        ▀▄██ █▀██ █▀█▀▄▀█▄▀▄█ ▀▀█▀▄█ █   ▀█ ███▀▀▄▀  █ █▀
        █ █▄▀█▀▀ █ ▄ ▄██ █ ▄▀ ▀▀▄  ▄█▄ ▀█▀█▀ ▄██▀▄ ▄▀ ▀
        ▄▄▀ ▄▀▀▀▀█▄ █  ▄  ▄▀▀▀▀█▄▄▄ █ █▀█▀▄█  ▄▀▄▀▀▄    ▀
        █  ▀▀ ▀▄ ▄▄▄ ▀  ▄ ▀▀▀██▀▄▀▄█▄ ██▄▄  ▀▄ ▀ ▄█▀▀▀▀█▀
         █▄▄ ▀▀█▄▀▀▄ █ ██ █▄▀▄▄▀█▄▄█▄▀▄▄▄ ▀█▀▄▀▀█▀▀█▀█▀ █
        ▀▀▀   ▀ ▄██▄ █▀▀▄▄▀▀▀▄█▀▀▀█ ▄▄▄ ▄▄  █ ▀▀█▀▀▀█▄▀▄
        █▀▀▀▀▀█ ▄█▀█ ▀    ▄  ▄█ ▀ █▀▄ ▄█▄▄▀▄▀█▀▀█ ▀ █ ▀ ▀
        █ ███ █ █  ▀ ▀█▄▄██▀ ▀██▀███ ▀█  ▀▀██▀ ▀█▀████▀▄▀
        █ ▀▀▀ █ ▀ ███▄▀ █▄█▀ █▄ ▀▄█▀ ▀▄▄ █▀▄█▀▀█  █▀ █ ▀█
        ▀▀▀▀▀▀▀ ▀   ▀ ▀▀▀ ▀ ▀  ▀▀  ▀ ▀▀     ▀▀ ▀ ▀ ▀▀ ▀▀▀
        """
}
