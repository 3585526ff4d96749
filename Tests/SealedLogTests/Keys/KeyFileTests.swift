import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Key files")
struct KeyFileTests {
    private let folder: TemporaryFolder
    private let path: String
    private let text: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("key")
        _ = try KeyFile.create(
            at: path, isFolderLocked: false, in: PosixFileSystem(), until: Deadline(after: .seconds(10)))
        text = try contents(path)
    }

    private func parse(_ text: [UInt8]) throws(LogError) -> KeyFile {
        do { try overwrite(path, text) } catch { throw LogError(.unavailable, "\(error)") }
        return try read()
    }

    private func read(below secretFolders: [String] = []) throws(LogError) -> KeyFile {
        try KeyFile.read(path, secretFolders: secretFolders, in: PosixFileSystem())
    }

    private func code(_ text: [UInt8]) throws -> LogError.Code? {
        try LogError.code { _ = try parse(text) }
    }

    private func kind(_ text: [UInt8]) throws -> KeyFile.Kind {
        try parse(text).kind
    }

    private var keyLine: Range<Int> {
        let start = text.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return start..<text.count - 1
    }

    @Test func aGeneratedOneIsReadBackAndOnlyItsOwnersToRead() throws {
        let key = try read()
        #expect(key.kind == .generated)
        #expect(key.secret.unsafeArray().count == 32)
        #expect(try key.text().unsafeArray() == text)
        #expect(try PosixFileSystem().status(at: path).mode == 0o600)
        let line = String(decoding: text[keyLine], as: UTF8.self)
        #expect(line.wholeMatch(of: /vault-key-1-[0-9a-f]{64}-[0-9a-f]{8}/) != nil)
    }

    @Test func noTwoAreTheSame() throws {
        let one = try KeyFile.generate()
        let other = try KeyFile.generate()
        #expect(one.secret.unsafeArray() != other.secret.unsafeArray())
    }

    @Test func oneThatIsThereIsNeverReplaced() throws {
        let second = try KeyFile.create(
            at: path, isFolderLocked: false, in: PosixFileSystem(), until: Deadline(after: .seconds(10)))
        let isThere = second == nil
        #expect(isThere)
        #expect(try contents(path) == text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["key"])
    }

    @Test func everyMistypedDigitIsNoticed() throws {
        let digits = Array("0123456789abcdef".utf8)
        for offset in keyLine.dropFirst(12) where text[offset] != UInt8(ascii: "-") {
            for digit in digits where digit != text[offset] {
                var mistyped = text
                mistyped[offset] = digit
                #expect(try code(mistyped) == .keyDamaged)
            }
        }
    }

    @Test func anyOtherMistypedLetterOfTheLineIsNoticed() throws {
        for offset in keyLine {
            for letter in Array("g -\n#x\0".utf8) where letter != text[offset] {
                var mistyped = text
                mistyped[offset] = letter
                // Even if the line no longer begins as a key does, the comment identifies the file.
                #expect(try code(mistyped) == .keyDamaged)
            }
        }
    }

    @Test func aCutOneIsDamagedAndNeverTakenForAnotherKind() throws {
        let comment = Array("# vault key file".utf8)
        for length in comment.count..<text.count - 1 {
            #expect(try code(Array(text[..<length])) == .keyDamaged)
        }
        let line = Array(text[keyLine])
        for length in 10..<line.count { #expect(try code(Array(line[..<length])) == .keyDamaged) }
        #expect(try code(line + line) == .keyDamaged)
        #expect(try code(line + [10] + line) == .keyDamaged)
        #expect(try code(text + Array("more".utf8)) == .keyDamaged)
        #expect(try code(Array("vault-key-2-00".utf8)) == .keyDamaged)
    }

    @Test func anEmptyOneIsRefused() throws {
        #expect(try code([]) == .keyUnsuitable)
    }

    @Test func aBlankOneAndAVaultAreRefused() throws {
        for form in ["\n", " ", "\t", "\0", "\r\n \n\0\0", String(repeating: "\n", count: 5_000)] {
            #expect(try code(Array(form.utf8)) == .keyUnsuitable)
        }
        #expect(try code(Header.magic) == .keyUnsuitable)
        #expect(try code(Header.magic + RandomBytes.array(16 << 10)) == .keyUnsuitable)
    }

    @Test func oneThatWasChangedOnItsWayIsDamagedAndNeverTakenForAnotherKind() throws {
        let line = String(decoding: text[keyLine], as: UTF8.self)
        let inUTF16 = { (text: String) in text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] } }
        let forms: [[UInt8]] = [
            Array(" \(line)".utf8), Array("\t\(line)\n".utf8), Array("\"\(line)\"".utf8), Array("KEY=\(line)".utf8),
            [0xEF, 0xBB, 0xBF] + Array(line.utf8), [0xEF, 0xBB, 0xBF] + text, [0xFF, 0xFE] + inUTF16(line),
            inUTF16(String(decoding: text, as: UTF8.self)), [0xFE, 0xFF, 0] + inUTF16(line).dropLast(),
        ]
        for form in forms { #expect(try code(form) == .keyDamaged) }
    }

    @Test func oneOfFewerThan16BytesIsShort() throws {
        let isShort = { (count: Int) in try parse([UInt8](repeating: 7, count: count)).isShort }
        #expect(try isShort(1) && isShort(15))
        #expect(try !isShort(16))
        #expect(try !parse(text).isShort)
    }

    @Test func linesAroundTheKeyMayBeCommentsOrEmpty() throws {
        let key = try parse(text).secret.unsafeArray()
        let line = String(decoding: text[keyLine], as: UTF8.self)
        for form in [
            line, line + "\n", line.uppercased(), "\n\n# mine\n\(line)\n\n# end", "# a\r\n\(line)\r\n", "\r\n\(line)",
        ] {
            let read = try parse(Array(form.utf8))
            #expect(read.kind == .generated)
            #expect(read.secret.unsafeArray() == key)
        }
    }

    @Test func anyOtherFileIsAKeyAsItIs() throws {
        for form in ["correct horse\n", "k", "#", "vault-key", "vault key-1-00", "# vault key", "\01"] {
            let key = try parse(Array(form.utf8))
            #expect(key.kind == .other)
            #expect(key.secret.unsafeArray() == Array(form.utf8))
        }
        #expect(try kind(RandomBytes.array(1 << 20)) == .other)
        #expect(try code([UInt8](repeating: 1, count: (1 << 20) + 1)) == .keyUnreadable)
    }

    @Test func everyByteOfAnotherFileCounts() throws {
        let vault = folder.file("vault")
        let passphrase = Array("correct horse".utf8)
        _ = try SealedLog.create(
            vault, key: parse(passphrase), label: "", options: SealedLog.Options(), in: PosixFileSystem())
        func open(_ text: [UInt8]) throws -> LogError.Code? {
            try LogError.code {
                _ = try openApart(vault, options: SealedLog.Options()) { () throws(LogError) in try parse(text) }
            }
        }
        #expect(try open(passphrase) == nil)
        #expect(try open(passphrase + [10]) == .keyWrong)
        #expect(try open(Array(passphrase.dropLast())) == .keyWrong)
        #expect(try open(text) == .keyWrong)
        let slot = try Header(parsing: Array(contents(vault)[..<Header.size])).slots[0]
        #expect(slot.kind == 2)
        #expect(slot.salt.contains { $0 != 0 })
        // As SECURITY.md says.
        #expect(slot.limits == .init(passes: 3, memory: 64 << 20))
    }
}
