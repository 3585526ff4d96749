import Glibc
import Testing
import Vault

@testable import VaultCommand

@Suite struct InputTests {
    @Test(arguments: [
        ("token", "token"), ("token\n", "token"), ("token\r\n", "token\r"), ("\n", ""), ("", ""), ("\n\n", "\n\n"),
        ("token\n\n", "token\n\n"), ("one\ntwo", "one\ntwo"), ("one\ntwo\n", "one\ntwo\n"),
    ])
    func onlyTheNewlineOfASingleLineIsStripped(input: String, expected: String) throws {
        let value = try read(Array(input.utf8), isExact: false)
        #expect(value == Array(expected.utf8))
        #expect(try read(Array(input.utf8), isExact: true) == Array(input.utf8))
    }

    @Test(arguments: [1, 4095, 4096, 4097, 8192, 100_000])
    func inputOfAnyLengthComesWhole(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try read(bytes, isExact: true) == bytes)
    }

    /// A pipe does not tell its length, so the memory has to grow.
    @Test(arguments: [1, 4095, 4096, 4097, 8193, 60_000])
    func aPipeComesWhole(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        // A pipe takes 64 KiB without a reader.
        #expect(write(ends[1], bytes, count) == count)
        close(ends[1])
        let value = try ValueInput.read(from: ends[0], named: "Standard input", isExact: true)
        #expect(value.unsafeArray() == bytes)
    }

    @Test func theLargestValuePassesAndOneByteMoreDoesNot() throws {
        let largest = [UInt8](repeating: 0x61, count: Keychain.maximumValueSize)
        #expect(try read(largest, isExact: true).count == largest.count)
        #expect(try read(largest + [0x0A], isExact: false).count == largest.count)
        #expect(throws: CommandError.tooLarge) { try read(largest + [0x0A], isExact: true) }
        #expect(throws: CommandError.tooLarge) { try read(largest + [0x61], isExact: false) }
        #expect(throws: CommandError.tooLarge) { try read(largest + largest, isExact: false) }
    }

    @Test func aMissingFileIsNamed() throws {
        let error = try #require(throws: CommandError.self) {
            _ = try ValueInput.readFile(at: "/nowhere/key").count
        }
        #expect(error.exit == .inputOutput)
        #expect(error.message == "/nowhere/key could not be opened: No such file or directory.")
    }

    /// Through a file.
    private func read(_ bytes: [UInt8], isExact: Bool) throws -> [UInt8] {
        let file = try #require(tmpfile())
        defer { fclose(file) }
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
        rewind(file)
        let value = try ValueInput.read(from: fileno(file), named: "Standard input", isExact: isExact)
        return value.unsafeArray()
    }
}
