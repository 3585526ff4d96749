import Foundation
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// Someone without the key changes the file.
@Suite("Tampering")
struct TamperingTests {
    private let vault: TamperedVault
    private var fixture: LogFixture { vault.fixture }
    private var file: RecordList { vault.file }

    init() throws {
        vault = try TamperedVault()
    }

    /// Every seventh byte; the tests of the command go through all.
    @Test func aChangedByteOfTheHistoryIsNoticed() throws {
        var generator = SeededGenerator(1)
        for offset in stride(from: 0, to: file.end, by: 7) {
            var bytes = file.bytes
            bytes[offset] ^= UInt8.random(in: 1...255, using: &generator)
            let found = try vault.outcome(of: bytes)
            let isHint = (Header.hintOffset..<Header.size).contains(offset)
            #expect(found == (isHint ? vault.state : nil), "byte \(offset)")
        }
    }

    @Test func changedBytesBehindTheEndAreNobodys() throws {
        for offset in [file.end, file.end + 1, file.end + 600, file.bytes.count - 1] {
            var bytes = file.bytes
            bytes[offset] ^= 0x40
            let found = try vault.outcome(of: bytes)
            // At the very end it looks like a record that was written and is broken.
            #expect(found == vault.state || (found == nil && offset < file.end + Frame.size))
        }
    }

    @Test func anyTruncationIsDamageOrAnEarlierState() throws {
        let borders = file.records.flatMap { [$0.lowerBound - 1, $0.lowerBound, $0.lowerBound + Frame.headSize] }
        for length in Array(stride(from: 0, to: file.end, by: 13)) + borders {
            let found = try vault.outcome(of: Array(file.bytes[..<length]))
            let complete = file.records.prefix { $0.upperBound <= length }.count
            #expect(found == (length < file.start ? nil : vault.history[complete]), "\(length) bytes")
        }
        for length in [file.end, file.end + 1, file.end + 100] {
            #expect(try vault.outcome(of: Array(file.bytes[..<length])) == vault.state)
        }
    }

    @Test func swappedValuesDoNotOpenUnderTheOtherName() throws {
        for isCompacted in [false, true] {
            try overwrite(fixture.path, file.bytes)
            let log = try fixture.open()
            try log.make([("left", RandomBytes.array(64)), ("right", RandomBytes.array(64)), ("last", [1])])
            try log.set("end", "x")
            if isCompacted { try log.compact() }
            var bytes = try fixture.bytes
            let ranges = try ["left", "right"].map { name -> Range<Int> in
                let version = try #require(try log.entry(.sample(name))?.content?.current)
                return Int(version.offset)..<Int(version.offset) + version.boxLength
            }
            let left = Array(bytes[ranges[0]])
            bytes.replaceSubrange(ranges[0], with: Array(bytes[ranges[1]]))
            bytes.replaceSubrange(ranges[1], with: left)
            #expect(try vault.outcome(of: bytes) == nil)
            // Even where nobody has verified.
            let other = try fixture.open()
            #expect(try LogError.code { _ = try other.get("left") } == .damaged)
            #expect(try LogError.code { _ = try other.get("right") } == .damaged)
            #expect(try other.get("last") == [1])
        }
    }

    @Test func nothingIsEverWrittenToADamagedVault() throws {
        let log = try fixture.open()
        var bytes = file.bytes
        bytes[file.records[5].lowerBound + 60] ^= 1
        try overwrite(fixture.path, bytes)
        #expect(try LogError.code { _ = try fixture.open() } == .damaged)
        // A handle that had read it all before knows nothing of it; whoever verifies does.
        #expect(try LogError.code { try log.verify() } == .damaged)
        #expect(try fixture.bytes == bytes)
    }
}
