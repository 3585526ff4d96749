import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// Pages, values and changes that are lost for good.
@Suite("Salvage of what is lost")
struct SalvageLossTests {
    private let fixture: LogFixture

    init() throws {
        fixture = try LogFixture()
    }

    private func flipped(_ offsets: some Sequence<Int>) throws -> [UInt8] {
        var bytes = try fixture.bytes
        for offset in offsets { bytes[offset] ^= 1 }
        return bytes
    }

    @Test func aLostPageCostsItsNamesAndSaysHowMany() throws {
        let log = try fixture.open()
        let names = (0..<1_000).map { "a rather long name of an entry/\($0)" }
        try log.make(names.map { ($0, RandomBytes.array(8)) })
        try log.compact()
        let states = [try log.state()]
        var lossy = 0
        let end = try RecordList(fixture.path).start
        for offset in stride(from: Int(Limits.checkpointStart), to: end, by: 4_099) {
            let salvaged = try SalvagedVault(fixture, try flipped([offset]))
            salvaged.expectHonesty(states)
            let report = salvaged.report
            guard report.hasGaps else { continue }
            lossy += 1
            #expect(report.doubtful.isEmpty && report.damage.count == 1)
            #expect(report.unnamed == 1_000 - salvaged.state.count - report.lost.count)
            try overwrite(fixture.path, try flipped([offset]))
        }
        #expect(lossy > 3)
    }

    /// A large transaction has its names in its tree alone: a page that is lost may hold newer values.
    @Test func aLostPageOfARecordsTreeMakesItsNamesDoubtful() throws {
        let log = try fixture.open()
        let names = (0..<300).map { "a rather long name of an entry/\($0)" }
        try log.make(names.map { ($0, [1, 2, 3]) })
        try log.compact()
        let old = try log.state()
        try log.make(names.map { ($0, [4, 5, 6]) })
        let states = [old, try log.state()]
        let bytes = try fixture.bytes
        let record = try #require(try RecordList(fixture.path).records.first)
        var doubtful = 0
        for offset in stride(from: record.upperBound - 20, to: record.lowerBound + 300, by: -2_003) {
            var changed = bytes
            changed[offset] ^= 1
            let salvaged = try SalvagedVault(fixture, changed)
            salvaged.expectHonesty(states)
            doubtful = max(doubtful, salvaged.report.doubtful.count)
        }
        #expect(doubtful > 50)
    }

    @Test func aLostValueIsReplacedByTheOneBefore() throws {
        let log = try fixture.open()
        try log.set("a", "old")
        try log.set("b", "other")
        try log.set("a", "new")
        let records = try RecordList(fixture.path)
        let bytes = try flipped([records.records[2].upperBound - 20])
        let salvaged = try SalvagedVault(fixture, bytes)
        #expect(salvaged.state == ["a": Array("old".utf8), "b": Array("other".utf8)])
        #expect(salvaged.report.older == ["a"] && salvaged.report.certain == 1 && !salvaged.report.isComplete)
        #expect(!salvaged.report.hasGaps)
    }

    @Test func aValueWithNoneBeforeIsLost() throws {
        let log = try fixture.open()
        try log.set("a", "only")
        try log.set("b", "other")
        let records = try RecordList(fixture.path)
        let salvaged = try SalvagedVault(fixture, try flipped([records.records[0].upperBound - 20]))
        #expect(salvaged.state == ["b": Array("other".utf8)])
        #expect(salvaged.report.lost == ["a"] && salvaged.report.unnamed == 0)
    }

    /// A tree in the middle of the log stands for what came before it.
    @Test func aTreeBehindALostChangeMakesUpForIt() throws {
        let log = try fixture.open()
        for number in 0..<130 { try log.set("name \(number)", [UInt8(number)]) }
        try #require(log.view.withLock { $0.minor } != nil)
        let records = try RecordList(fixture.path)
        let salvaged = try SalvagedVault(fixture, flipped([records.records[2].lowerBound + Frame.headSize + 9]))
        #expect(salvaged.state == (try log.state()))
        #expect(salvaged.report.doubtful.isEmpty && salvaged.report.certain == 130)
        #expect(salvaged.report.damage.count == 1)
    }

    // MARK: What this machine remembers

    private func remembered() throws -> (bytes: [UInt8], state: [String: [UInt8]]) {
        let log = try fixture.open(remembering: true)
        for number in 0..<6 { try log.set("name \(number % 4)", [UInt8(number)]) }
        return (try fixture.bytes, try log.state())
    }

    @Test func anOlderFileThanThisMachineHasSeenIsDoubtful() throws {
        let old = try remembered().bytes
        try fixture.open(remembering: true).set("name 1", "newer")
        let salvaged = try SalvagedVault(fixture, old, remembering: true)
        #expect(salvaged.report.certain == 0 && salvaged.report.doubtful.count == 4)
        #expect(salvaged.report.damage.count == 1)
    }

    @Test func aFileFromBeforeARotationThatThisMachineHasSeenIsDoubtful() throws {
        let (old, state) = try remembered()
        try fixture.open().rotate()
        let rotated = try fixture.bytes
        // What it remembers so far is under a data key that the file has had.
        let present = try SalvagedVault(fixture, rotated, remembering: true)
        #expect(present.report.isComplete && present.report.certain == 4 && present.report.damage == [])
        _ = try fixture.open(remembering: true).state()
        let salvaged = try SalvagedVault(fixture, old, remembering: true)
        #expect(salvaged.state == state && !salvaged.report.isComplete)
        #expect(salvaged.report.certain == 0 && salvaged.report.doubtful.count == 4)
        #expect(salvaged.report.damage == ["this machine has seen this vault under another data key, after a rotation"])
    }

    // MARK: Headers under former data keys

    /// Makes a header under a former data key, with a number of later, as somebody can who was shut out.
    private func forged(_ former: [UInt8], under keys: KeyRing) throws -> [UInt8] {
        var header = try Header(parsing: Array(former[..<Header.size]))
        header.sequence = 1 << 61
        header.root = nil
        let fields = header.encoded
        return try fields + keys.authenticate(fields, for: .header)
    }

    /// Such a header has no root, and no record of the vault opens under its keys.
    private func vaultWithForgedHeader(at offset: Int) throws -> (bytes: [UInt8], state: [String: [UInt8]]) {
        let log = try fixture.open()
        try log.set("a", "old")
        let former = try fixture.bytes
        let keys = log.keys
        try log.rotate()
        try log.rotate()
        try log.set("a", "new")
        try log.set("b", "other")
        var bytes = try fixture.bytes
        let header = try forged(former, under: keys)
        bytes.replaceSubrange(offset..<offset + header.count, with: header)
        return (bytes, try log.state())
    }

    @Test(arguments: [0, Header.copyOffset]) func aHeaderUnderAFormerDataKeyHidesNothingWhateverItsNumber(
        offset: Int
    ) throws {
        let (bytes, state) = try vaultWithForgedHeader(at: offset)
        let salvaged = try SalvagedVault(fixture, bytes)
        #expect(salvaged.state == state && state.count == 2)
        #expect(salvaged.report.isComplete && salvaged.report.certain == 2)
        #expect(salvaged.report.damage == [offset == 0 ? "the header at byte 0" : "the header's copy at byte 4096"])
    }

    /// Slots of a file that was not generated take work to try.
    @Test func slotsOfSuchAHeaderKeepNoOtherFromBeingTried() throws {
        try overwrite(fixture.keyPath, Array("a key file of one's own".utf8))
        let location = FileLocation(fixture.folder.file("own.vault"), in: PosixFileSystem())
        func key() throws(LogError) -> Credential { .keyFile(try fixture.key()) }
        let log = try SealedLog.create(location, secret: key(), label: "own", options: SealedLog.Options())
        try log.set("a", "old")
        let former = try contents(location.path)
        let keys = log.keys
        try log.rotate()
        try log.set("a", "new")
        var bytes = try contents(location.path)
        var header = try Header(parsing: Array(former[..<Header.size]))
        // Each costs a little less than the slot of the vault, and all of them as much as those of one header may.
        for number in 1...3 {
            var slot = header.slots[0]
            slot.salt[0] ^= UInt8(number)
            slot.limits = KeyDerivation.StretchLimits(passes: 1, memory: slot.limits.cost - 1_024)
            header.slots.append(slot)
        }
        header.sequence = 1 << 61
        header.root = nil
        let fields = header.encoded
        try bytes.replaceSubrange(0..<Header.hintOffset, with: fields + keys.authenticate(fields, for: .header))
        let salvaged = try SalvagedVault(fixture, bytes)
        #expect(salvaged.state == ["a": Array("new".utf8)])
        #expect(salvaged.report.isComplete && salvaged.report.damage == ["the header at byte 0"])
    }

    private static let doubt = "a key slot whose data key is neither this header's current nor a former one"

    /// Only the manifest says which data key came later.
    @Test func ifNoManifestOpensEverythingIsDoubtful() throws {
        var (bytes, state) = try vaultWithForgedHeader(at: Header.copyOffset)
        let manifest = try Header(parsing: Array(bytes[..<Header.size])).manifest
        bytes[Int(manifest.offset)] ^= 1
        let salvaged = try SalvagedVault(fixture, bytes)
        #expect(salvaged.state == state && salvaged.report.doubtful == ["a", "b"])
        #expect(salvaged.report.damage.contains(Self.doubt) && !salvaged.report.isComplete)
    }

    /// Otherwise a header that leads nowhere would lose what the other one leads to.
    @Test(arguments: [true, false]) func ofTwoHeadersThatDoNotNameEachOtherTheOneThatLeadsToMoreCounts(
        isLater: Bool
    ) throws {
        let log = try fixture.open()
        try log.set("a", "old")
        let former = try fixture.bytes
        try log.rotate()
        try log.set("b", "other")
        // Today's vault with the header of before and a damaged manifest; or the vault of before with today's header.
        let (damaged, header) = try isLater ? (fixture.bytes, former) : (former, fixture.bytes)
        var bytes = damaged
        if isLater { bytes[Int(try Header(parsing: Array(bytes[..<Header.size])).manifest.offset)] ^= 1 }
        bytes.replaceSubrange(..<Header.hintOffset, with: header[..<Header.hintOffset])
        let salvaged = try SalvagedVault(fixture, bytes)
        #expect(salvaged.state.keys.sorted() == (isLater ? ["a", "b"] : ["a"]))
        #expect(salvaged.report.doubtful == salvaged.state.keys.sorted())
        #expect(salvaged.report.damage.contains(Self.doubt) && !salvaged.report.isComplete)
    }

    /// A copy in place was cut behind the header, or before it was written.
    @Test(arguments: [0, Int(Header.copyOffset)]) func anEarlierHeaderLeadsToWhatALaterOneHasNot(offset: Int) throws {
        let log = try fixture.open()
        try log.set("a", "1")
        try log.set("b", "2")
        _ = try log.compact(timeout: SealedLog.patience)
        var bytes = try fixture.bytes
        try log.remove("a")
        try log.set("c", "3")
        _ = try log.compact(timeout: SealedLog.patience)
        let later = try fixture.bytes
        bytes.replaceSubrange(offset..<offset + Header.hintOffset, with: later[offset..<offset + Header.hintOffset])
        let salvaged = try SalvagedVault(fixture, bytes)
        #expect(salvaged.state == ["a": Array("1".utf8), "b": Array("2".utf8)])
        #expect(salvaged.report.doubtful == ["a", "b"] && salvaged.report.certain == 0)
        #expect(salvaged.report.damage.contains("everything that only a newer header refers to"))
        // The later one counts where it leads to something, although there is less of it.
        bytes = later
        for byte in offset..<offset + Header.hintOffset { bytes[byte] = 0 }
        #expect(try SalvagedVault(fixture, bytes).state.keys.sorted() == ["b", "c"])
    }

    /// Nothing is left of the vault's own header but its key slot.
    @Test func aVaultIsNotCalledEmptyByAHeaderUnderAFormerDataKey() throws {
        var bytes = try vaultWithForgedHeader(at: Header.copyOffset).bytes
        bytes[Header.macOffset] ^= 1
        let salvaged = try SalvagedVault(fixture, bytes)
        #expect(salvaged.report.damage.contains(Self.doubt) && !salvaged.report.isComplete)
    }

    /// A sector of before hides nothing: of two headers that authenticate, under whatever data keys, the later counts.
    @Test(arguments: [0, Int(Header.copyOffset)]) func aHeaderFromBeforeARotationHidesNothing(offset: Int) throws {
        let log = try fixture.open()
        try log.set("a", "old")
        let former = try fixture.bytes[offset..<offset + Header.hintOffset]
        try log.rotate()
        try log.set("a", "new")
        try log.set("b", "other")
        var bytes = try fixture.bytes
        bytes.replaceSubrange(former.indices, with: former)
        let salvaged = try SalvagedVault(fixture, bytes)
        #expect(salvaged.state == ["a": Array("new".utf8), "b": Array("other".utf8)])
        #expect(salvaged.report.isComplete && salvaged.report.certain == 2)
        #expect(salvaged.report.damage == [offset == 0 ? "the header at byte 0" : "the header's copy at byte 4096"])
    }

    /// Another machine may have written there.
    @Test func whatIsDamagedBehindTheChangeThatThisMachineHasSeenMayHideALaterOne() throws {
        let state = try remembered().state
        let other = try fixture.open()
        try other.set("name 2", "of another machine")
        let records = try RecordList(fixture.path)
        let bytes = try flipped([#require(records.records.last).lowerBound + Frame.headSize + 9])
        let salvaged = try SalvagedVault(fixture, bytes, remembering: true)
        #expect(salvaged.state == state && !salvaged.report.isComplete)
        #expect(salvaged.report.certain == 0 && salvaged.report.doubtful.count == 4)
        #expect(salvaged.report.damage.count == 1)
    }

    @Test func aLostChangeBeforeTheOneThatThisMachineHasSeenHidesNothingLater() throws {
        let state = try remembered().state
        let records = try RecordList(fixture.path)
        let bytes = try flipped([records.records[1].lowerBound + Frame.headSize + 9])
        let salvaged = try SalvagedVault(fixture, bytes, remembering: true)
        // Change 1 was the second of "name 1", whose last one is change 5.
        #expect(salvaged.state == state)
        #expect(salvaged.report.doubtful.isEmpty)
        #expect(salvaged.report.hasGaps)
    }
}
