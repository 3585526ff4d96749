import Glibc
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// What is whole of a damaged vault is copied, and nothing is passed off for more than it is.
@Suite("Salvage")
struct SalvageTests {
    private let vault: TamperedVault
    private var fixture: LogFixture { vault.fixture }
    private var file: RecordList { vault.file }

    init() throws {
        vault = try TamperedVault()
    }

    private func salvage(_ bytes: [UInt8]) throws -> SalvagedVault {
        let salvaged = try SalvagedVault(fixture, bytes)
        salvaged.expectHonesty(vault.history)
        return salvaged
    }

    private func flipped(_ offsets: Int...) -> [UInt8] {
        var bytes = file.bytes
        for offset in offsets { bytes[offset] ^= 0x10 }
        return bytes
    }

    @Test func aSoundVaultComesOutWhole() throws {
        let salvaged = try salvage(file.bytes)
        #expect(salvaged.state == vault.state)
        #expect(salvaged.report.isComplete && salvaged.report.damage.isEmpty)
        #expect(salvaged.report.certain == 20)
    }

    @Test func oneLostChangeCostsNoOtherValue() throws {
        for (index, record) in file.records.enumerated() {
            // The index follows the frame.
            let salvaged = try salvage(flipped(record.lowerBound + Frame.headSize + 20))
            #expect(!salvaged.report.isComplete && !salvaged.report.damage.isEmpty)
            // What follows may be of another history: this machine remembers none.
            #expect(salvaged.report.certain == 0)
            var expected = vault.state
            // What is lost is what this change had brought.
            let changed = "name \(index + 10)"
            if index < 11 {
                expected[changed] = vault.history[0][changed]
            } else {
                expected["name 3"] = vault.history[0]["name 3"]
            }
            #expect(salvaged.state == expected)
        }
    }

    @Test func aFrameIsNotNeeded() throws {
        for record in file.records {
            for offset in [0, 4, 9, 17, 25, 40, Frame.size - 1, Frame.size] where offset < Frame.headSize {
                let salvaged = try salvage(flipped(record.lowerBound + offset))
                #expect(salvaged.state.count >= 19)
            }
            let salvaged = try salvage(flipped(record.lowerBound + 5))
            #expect(salvaged.state == vault.state && salvaged.report.isComplete)
        }
    }

    @Test func anyFlippedBitLeavesMostOfIt() throws {
        let end = file.bytes.count
        for offset in stride(from: 0, to: end, by: end > 40_000 ? 97 : 41) {
            let salvaged = try salvage(flipped(offset))
            #expect(salvaged.state.count >= (offset < file.start ? 10 : 19), "byte \(offset)")
        }
    }

    @Test(arguments: [[0], [8], [13], [130], [260], [2_900], [4_060]])
    func aByteOfHeaderOrCopyCostsNothing(_ offsets: [Int]) throws {
        for start in [0, Header.copyOffset] {
            let salvaged = try salvage(flipped(offsets[0] + start))
            #expect(salvaged.state == vault.state)
            #expect(salvaged.report.isComplete)
            #expect(salvaged.report.damage.count == 1)
        }
    }

    @Test func reservedBytesOfHeaderAndCopyCostNothing() throws {
        for offset in [140, 255, 1_900, 2_900, 4_000] {
            let salvaged = try salvage(flipped(offset, Header.copyOffset + offset))
            #expect(salvaged.state == vault.state && salvaged.report.isComplete)
        }
    }

    @Test func sectorsOfHeaderAndCopyMakeUpForEachOther() throws {
        var bytes = file.bytes
        for sector in 0..<8 {
            let start = sector * 512 + (sector.isMultiple(of: 2) ? 0 : Header.copyOffset)
            bytes.replaceSubrange(start..<start + 512, with: repeatElement(0, count: 512))
        }
        // The magic stands in the copy.
        let salvaged = try salvage(bytes)
        #expect(salvaged.state == vault.state && salvaged.report.isComplete)
        #expect(salvaged.report.damage.count == 2)
    }

    @Test func aHeaderThatIsAGuessMakesEverythingDoubtful() throws {
        let salvaged = try salvage(flipped(Header.macOffset + 3, Header.copyOffset + Header.macOffset + 3))
        #expect(salvaged.state == vault.state)
        #expect(salvaged.report.certain == 0 && salvaged.report.doubtful.count == 20)
        // Without records, too.
        try overwrite(fixture.path, file.bytes)
        try fixture.open().compact()
        var compacted = try fixture.bytes
        for start in [0, Header.copyOffset] { compacted[start + Header.macOffset + 3] ^= 1 }
        #expect(try SalvagedVault(fixture, compacted).report.doubtful.count == 20)
    }

    @Test func junkBehindTheEndMakesItsNamesDoubtful() throws {
        var bytes = file.bytes
        try #require(bytes.count > file.end + 3)
        bytes[file.end + 3] = 1
        let salvaged = try salvage(bytes)
        #expect(salvaged.state == vault.state)
        #expect(salvaged.report.certain == 0 && salvaged.report.doubtful.count == 20)
        #expect(salvaged.report.damage.count == 1)
    }

    @Test func splicedRecordsAreNeverPassedOffForTheLast() throws {
        for index in file.records.indices.dropLast() {
            var dropped = file.all
            dropped.remove(at: index)
            #expect(!(try salvage(file.file(with: dropped)).report.isComplete))
            var swapped = file.all
            swapped.swapAt(index, index + 1)
            // They say themselves in which order they belong, but their values no longer lie where they did.
            #expect(!(try salvage(file.file(with: swapped)).report.isComplete))
        }
    }

    @Test func recordsOfAnotherHistoryMakeWhatFollowsDoubtful() throws {
        // The same vault, gone another way since its third record.
        try overwrite(fixture.path, file.file(with: Array(file.all.prefix(3))))
        let log = try fixture.open()
        for number in 0..<9 { try log.set("name \(number)", RandomBytes.array(40)) }
        let other = try RecordList(fixture.path)
        for index in 3..<11 {
            var records = file.all
            records[index] = other[index]
            let salvaged = try SalvagedVault(fixture, file.file(with: records))
            #expect(salvaged.report.certain == 0)
            #expect(salvaged.untrusted == Set(salvaged.state.keys))
        }
    }

    @Test func theKeyHasToFit() throws {
        let other = try LogFixture()
        try overwrite(other.path, file.bytes)
        let target = other.folder.file("salvaged.vault")
        for bytes in [file.bytes, flipped(130, Header.copyOffset + 130)] {
            try overwrite(other.path, bytes)
            let code = try LogError.code {
                _ = try SealedLog.salvage(
                    other.path, to: target, key: other.key(), options: other.options(), in: PosixFileSystem())
            }
            #expect(code == .keyWrong)
        }
    }

    @Test func whatIsThereIsNotReplaced() throws {
        let code = try LogError.code {
            _ = try SealedLog.salvage(
                fixture.path, to: fixture.keyPath, key: fixture.key(), options: fixture.options(), in: PosixFileSystem()
            )
        }
        #expect(code == .exists)
        #expect(throws: Never.self) { _ = try fixture.key() }
    }

    @Test func aBadBlockCostsWhatLiesInIt() throws {
        let block = UInt64(file.records[5].lowerBound) / 4_096 * 4_096
        let files = FaultyFileSystem()
        files.fail([.read], on: block..<block + 4_096, times: .max, with: .error(EIO))
        let salvaged = try SalvagedVault(fixture, file.bytes, in: files)
        #expect(files.failures > 0)
        salvaged.expectHonesty(vault.history)
        #expect(!salvaged.report.isComplete && !salvaged.state.isEmpty)
    }
}
