import Sealing
import TestSupport
import Testing

@testable import SealedFormat

@Suite("What is written is read back")
struct RoundTripTests {
    @Test(arguments: 0..<50) func anEntry(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        let entry = Entry.random(try .sample("an entry, größer"), &generator)
        var writer = ByteWriter()
        writer.entry(entry)
        var reader = ByteReader(writer.bytes)
        #expect(try reader.entry() == entry)
        #expect(reader.remaining == 0)
    }

    @Test(arguments: 0..<20) func anEntrysFootprintDoesNotDependOnWhereItsValueLies(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        var entry = Entry.random(try .sample("an entry"), &generator)
        entry.earlier = []
        entry.content?.current.offset = 0
        var writer = ByteWriter()
        writer.entry(entry)
        let size = entry.content.map { UInt64(writer.count + $0.current.boxLength) } ?? 0
        #expect(entry.footprint == size)
        #expect(entry.moved(by: 1 << 50).footprint == size)
    }

    @Test(arguments: 0..<20) func anIndexOfTransactions(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        var index = RecordIndex(
            sequence: UInt64.random(in: 1..<Limits.recordSequence, using: &generator), previous: randomAuthenticator(),
            payloadHash: RandomBytes.array(32),
            totals: Totals(entries: 3, liveBytes: .max, deadBytes: UInt64(seed)))
        index.transactions = try (0..<seed % 4).map { transaction in
            try (0...transaction).map { .random(try .sample("name \($0)"), &generator) }
        }
        index.isNotice = index.transactions.isEmpty
        let encoded = index.encoded
        #expect(encoded.count.isMultiple(of: 16))
        #expect(try RecordIndex(parsing: encoded) == index)
        #expect(try RecordIndex(parsing: encoded + [UInt8](repeating: 0, count: 32)) == index)
        #expect(throws: Malformed.self) { try RecordIndex(parsing: encoded + [1]) }
    }

    @Test(arguments: [0, Limits.recordSequence, .max]) func aSequenceNumberThatNoLogReaches(_ sequence: UInt64) {
        let index = RecordIndex(
            sequence: sequence, previous: randomAuthenticator(), payloadHash: RandomBytes.array(32), totals: Totals())
        #expect(throws: Malformed.self) { try RecordIndex(parsing: index.encoded) }
    }

    @Test func anIndexWithATree() throws {
        var index = RecordIndex(
            sequence: 600, previous: randomAuthenticator(), payloadHash: RandomBytes.array(32), totals: Totals())
        index.tree = RecordIndex.Tree(
            header: randomAuthenticator(), root: PageReference(offset: 1 << 40, length: 16_384, nonce: randomNonce()),
            entries: .max)
        #expect(try RecordIndex(parsing: index.encoded) == index)
        index.isNotice = true
        #expect(throws: Malformed.self) { try RecordIndex(parsing: index.encoded) }
        index.isNotice = false
        index.transactions = [[try .sample("a")]]
        #expect(throws: Malformed.self) { try RecordIndex(parsing: index.encoded) }
    }

    @Test func aManifest() throws {
        var header = Header.sample(slots: 2)
        header.slots[1].kind = KeySlot.Kind.recipient.rawValue
        header.sequence = 128
        var manifest = Manifest(
            created: 1_700_000_000_000, totals: Totals(entries: 1, liveBytes: 2, deadBytes: 3),
            chain: (0..<128).map { _ in randomAuthenticator() },
            labels: [
                SlotLabel(created: 4, text: "laptop"), SlotLabel(created: 5, text: "", recipient: "age1…"),
            ], settings: [Attribute(key: "a", value: "b")], formerMemoryKeys: [RandomBytes.array(32)],
            merged: [3, 9, 9].map { LogPosition(sequence: $0, authenticator: randomAuthenticator()) })
        manifest.addRemoved(manifest.chain.suffix(2).reversed())
        #expect(try Manifest(parsing: manifest.encoded, of: header) == manifest)
        #expect(throws: Malformed.self) { try Manifest(parsing: manifest.encoded, of: .sample(slots: 16)) }
        // A chain cannot be longer than the number that it ends before.
        header.sequence = 127
        #expect(throws: Malformed.self) { try Manifest(parsing: manifest.encoded, of: header) }
        header.sequence = 128
        // Of two key files, none has a recipient.
        #expect(throws: Malformed.self) { try Manifest(parsing: manifest.encoded, of: .sample(slots: 2)) }
        manifest.merged.reverse()
        #expect(throws: Malformed.self) { try Manifest(parsing: manifest.encoded, of: header) }
        manifest.merged.reverse()
        var generator = SeededGenerator(3)
        manifest.members = try (0..<3).map { number in
            let device = try #require(Device(publicKey: RandomBytes.array(32)))
            let known = (0..<number).map { _ in
                generator.bytes(Authenticator.size).withUnsafeBytes { Authenticator($0) }
            }
            let change = MemberChange(
                isRemoval: number == 2, time: 7, name: "mia", device: device, recipient: number == 0 ? "age1…" : "",
                known: known)
            return MemberRecord(change: change, authorship: .random(&generator))
        }
        header.hasMembers = true
        #expect(try Manifest(parsing: manifest.encoded, of: header) == manifest)
        manifest.membersKnownToKey = [2, 0].map { manifest.members[$0].id }
        #expect(try Manifest(parsing: manifest.encoded, of: header) == manifest)
        manifest.membersKnownToKey.append(randomAuthenticator())
        #expect(throws: Malformed.self) { try Manifest(parsing: manifest.encoded, of: header) }
        manifest.membersKnownToKey = []
        manifest.members = []
        #expect(throws: Malformed.self) { try Manifest(parsing: manifest.encoded, of: header) }
    }

    @Test(arguments: [1, 2, 16]) func aHeader(_ slots: Int) throws {
        let keys = try randomKeys()
        var header = Header.sample(slots: slots)
        let image = try header.sealed(with: keys, as: nil)
        let bytes = Array(image[..<4_096])
        #expect(image == bytes + bytes)
        #expect(Header.copyHolds(in: image))
        #expect(try Header(parsing: bytes) == header)
        #expect(try Header.authenticate(bytes, with: keys) == bytes[4_032...].withUnsafeBytes { Authenticator($0) })
        #expect(Header.hint(in: bytes) == nil)
        header.root = nil
        #expect(try Header(parsing: Array(header.sealed(with: keys, as: nil)[..<4_096])) == header)
    }

    @Test func aHeaderWithAnyByteChangedDoesNotAuthenticate() throws {
        let keys = try randomKeys()
        let bytes = Array(try Header.sample(slots: 1).sealed(with: keys, as: nil)[..<Header.size])
        for offset in 0..<Header.hintOffset {
            var changed = bytes
            changed[offset] ^= 0x10
            #expect(throws: LogError.self) { _ = try Header.authenticate(changed, with: keys) }
        }
        for offset in Header.hintOffset..<Header.size {
            var changed = bytes
            changed[offset] ^= 0x10
            _ = try Header.authenticate(changed, with: keys)
        }
    }

    @Test func aHeaderWithAName() throws {
        let keys = try randomKeys()
        let hash = RandomBytes.array(32)
        let header = Header.sample(slots: 2)
        let named = try header.sealed(with: keys, as: hash)
        let unnamed = try header.sealed(with: keys, as: nil)
        let found = try Header(parsing: Array(named[..<Header.size]))
        #expect(found.name?.hash == hash && found.name?.copied == 0 && Header.copyHolds(in: named))
        let authenticators = try [named, unnamed].map { try Header.authenticate(Array($0[..<Header.size]), with: keys) }
        #expect(authenticators[0] == authenticators[1], "it is the same history")
        var renamed = unnamed
        try header.name(hash, behind: 5, with: keys).write(to: &renamed)
        #expect(try Header(parsing: Array(renamed[..<Header.size])).name?.copied == 5 && Header.copyHolds(in: renamed))
        for offset in BoundName.bytes {
            var changed = renamed
            changed[offset] ^= 0x10
            #expect(throws: LogError.self) { _ = try Header.authenticate(Array(changed[..<Header.size]), with: keys) }
        }
        // Under another header of the same keys.
        var other = try Header.sample(slots: 2).sealed(with: keys, as: nil)
        try header.name(hash, behind: 5, with: keys).write(to: &other)
        #expect(throws: LogError.self) { _ = try Header.authenticate(Array(other[..<Header.size]), with: keys) }
    }

    /// Up to the number, at it, and behind it.
    @Test func aRecordBelongsUnderItsName() throws {
        let keys = try randomKeys()
        let hash = RandomBytes.array(32)
        let another = RandomBytes.array(32)
        let name = try Header.sample(slots: 1).name(hash, behind: 5, with: keys)
        for (sequence, mark, isAdmitted) in [
            (4, another, true), (5, another, true), (5, nil, true), (6, another, false), (6, nil, false),
            (6, hash, true),
        ] as [(UInt64, [UInt8]?, Bool)] {
            var index = RecordIndex(
                sequence: sequence, previous: .zero, payloadHash: RandomBytes.array(32), totals: Totals())
            index.name = mark.map { Array($0[..<16]) }
            #expect(BoundName.admits(index, under: name) == isAdmitted)
            #expect(BoundName.admits(index, under: nil) == (mark == nil))
            #expect(try RecordIndex(parsing: index.encoded) == index)
        }
    }

    /// The sample's checkpoint ends at 9,312.
    @Test(arguments: [(8_176, 32), (9_216, 112), (9_312, 32), (1 << 40, 32)] as [(UInt64, Int)])
    func aHeaderRefersToNothingOutsideItsCheckpoint(_ offset: UInt64, _ length: Int) throws {
        let outside = PageReference(offset: offset, length: length, nonce: randomNonce())
        var first = Header.sample(slots: 1)
        var second = Header.sample(slots: 1)
        first.root = outside
        second.manifest = outside
        for header in [first, second] {
            let bytes = Array(try header.sealed(with: randomKeys(), as: nil)[..<Header.size])
            #expect(throws: LogError.damaged("the header (the end of the checkpoint)")) {
                try Header(parsing: bytes)
            }
        }
    }

    @Test func aHintIsReadBack() throws {
        let hint = Hint(offset: 65_536, sequence: 513)
        let bytes = Array(try Header.sample(slots: 1).sealed(with: randomKeys(), as: nil)[..<Header.hintOffset])
        #expect(Header.hint(in: bytes + hint.encoded + RandomBytes.array(16)) == hint)
    }

    @Test func aFrame() throws {
        let id = RandomBytes.array(16)
        let frame = Frame(indexLength: 1_024, payloadLength: 48)
        let bytes = try frame.encoded(vaultID: id)
        #expect(bytes.count == Frame.size)
        #expect(bytes.withUnsafeBytes { Frame($0, vaultID: id) } == frame)
        #expect(bytes.withUnsafeBytes { Frame($0, vaultID: RandomBytes.array(16)) } == nil)
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(changed.withUnsafeBytes { Frame($0, vaultID: id) } == nil)
        }
    }

    @Test func aFrameOutOfBoundsIsNone() throws {
        let id = RandomBytes.array(16)
        for (index, payload) in [(16, 0), (40, 0), (32, 8), (Limits.indexSize + 16, 0), (32, Limits.payloadSize)] {
            let bytes = try Frame(indexLength: index, payloadLength: UInt64(payload)).encoded(vaultID: id)
            #expect(bytes.withUnsafeBytes { Frame($0, vaultID: id) } == nil)
        }
    }

    @Test func aPage() throws {
        var generator = SeededGenerator(1)
        var builder = PageBuilder()
        let entries = try (0..<800).map { Entry.random(try .sample("entry \($0 + 100)"), &generator) }
        var kept: [Entry] = []
        for entry in entries {
            guard builder.add(entry.name, { $0.entry(entry) }) else { break }
            kept.append(entry)
        }
        #expect(kept.count < entries.count)
        #expect(builder.firstName == entries[0].name)
        let bytes = builder.encoded(level: 0)
        #expect(bytes.count + SecretBox.tagSize <= Limits.pageSize)
        let page = try Page(parsing: bytes, at: 0)
        #expect(page.count == kept.count)
        for (index, entry) in kept.enumerated() {
            #expect(try page.entry(index) == entry)
            #expect(try page.name(index) == entry.name)
            let found = try entry.name.bytes.withUnsafeBytes { try page.lastCell(notAfter: $0) }
            #expect(found?.index == index && found?.isExact == true)
        }
        #expect(try Array("a".utf8).withUnsafeBytes { try page.lastCell(notAfter: $0) } == nil)
        let last = try Array("z".utf8).withUnsafeBytes { try page.lastCell(notAfter: $0) }
        #expect(last?.index == kept.count - 1 && last?.isExact == false)
    }
}
