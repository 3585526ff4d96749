import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// Somebody with the data key seals a value under the nonce of another one. Who knows the one can forge the other.
@Suite("Different values under one nonce")
struct SharedNonceTests {
    private let fixture: LogFixture
    private let log: SealedLog

    init() throws {
        fixture = try LogFixture(history: .standard)
        log = try fixture.open(remembering: true)
        try log.set("iban", "IBAN-OF-SUPPLIER")
        try log.set("other", "unrelated")
    }

    // MARK: What is found

    /// Values under few nonces, in all parts of the file, and in histories.
    @Test(arguments: 0..<20) func areFoundWhereverTheyAre(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        let nonces = (0..<4).map { _ in generator.bytes(Nonce.size).withUnsafeBytes { Nonce($0) } }
        var values: [Nonce: [String: Set<String>]] = [:]
        for number in 0..<8 {
            let nonce = nonces[Int.random(in: 0..<4, using: &generator)]
            let value = ["one", "two", "three"][Int.random(in: 0..<3, using: &generator)]
            let name = "planted \(number)"
            try log.plant(name, value, under: nonce)
            values[nonce, default: [:]][value, default: []].insert(name)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: try log.compact()
            case 1: try log.make((0..<130).map { ("many \($0)", [UInt8(number)]) })
            // It becomes an earlier value of its name.
            case 2: try log.set(name, "another")
            default: break
            }
        }
        let shared = values.values.filter { $0.count > 1 }.flatMap { $0.values.joined() }
        #expect(try log.verify().sharingNonces == Set(shared).sorted())
        #expect(try log.namesSharingNonces() == Set(shared).sorted())
    }

    /// A box has one name, but may be several times in that name's history.
    @Test func isNoneIfItIsOneBox() throws {
        let version = try #require(try log.history(.sample("iban"))?.content).current
        try log.set("iban", "2")
        var entry = try #require(try log.history(.sample("iban")))
        entry.earlier += [EarlierVersion(modified: 1, version: version), EarlierVersion(modified: 0, version: version)]
        try log.write(entry, entry.versions.map { _ in nil })
        #expect(try log.verify().sharingNonces == [])
    }

    @Test func isFoundInOneNamesHistory() throws {
        let version = try #require(try log.history(.sample("iban"))?.content).current
        let earlier = [EarlierVersion(modified: 1, version: version)]
        try log.plant("iban", "a value of another length", under: version.nonce, earlier: earlier)
        #expect(try log.verify().sharingNonces == ["iban"])
    }

    // MARK: Rotation

    /// What a former member has planted tells nothing of the new boxes: no two of them share a nonce.
    @Test(arguments: [true, false]) func areSealedApartByARotation(_ isCompacted: Bool) throws {
        let former = try log.nonce(of: "iban")
        try log.plant("planted", "0123456789abcdef", under: former)
        if isCompacted { try log.compact() }
        #expect(try log.verify().sharingNonces == ["iban", "planted"])
        try log.rotate()
        #expect(try log.verify().sharingNonces == [])
        #expect(try log.nonce(of: "iban") != log.nonce(of: "planted"))
        #expect(try log.text("iban") == "IBAN-OF-SUPPLIER")
        #expect(try log.text("planted") == "0123456789abcdef")
    }

    /// The same holds of what he writes while the rotation copies.
    @Test func areSealedApartIfTheyWerePlantedMeanwhile() throws {
        let former = try log.nonce(of: "iban")
        let attacker = try fixture.open()
        let files = FaultyFileSystem()
        let owner = try fixture.open(in: files)
        let isPlanted = Flag()
        files.watch(.write) { call in
            guard call.path != fixture.path, !isPlanted.isSet else { return }
            isPlanted.set()
            try? attacker.plant("planted", "0123456789abcdef", under: former)
        }
        try owner.rotate()
        #expect(try owner.text("planted") == "0123456789abcdef")
        #expect(try owner.verify().sharingNonces == [])
        #expect(try owner.nonce(of: "iban") != owner.nonce(of: "planted"))
    }

    /// Copies that are rotated apart from each other know their values again: former nonce and value decide, and both.
    @Test func theNewNonceFollowsFromTheFormerOneAndTheValue() throws {
        let keys = log.keys
        let version = try #require(try log.history(.sample("iban"))?.content).current
        let hash = try Array("IBAN-OF-SUPPLIER".utf8).withRawBytes(version.hash(ofValue:))
        let nonce = try keys.nonce(resealing: version.nonce, ofValue: hash)
        #expect(try keys.nonce(resealing: version.nonce, ofValue: hash) == nonce)
        for index in hash.indices {
            var other = hash
            other[index] ^= 1
            #expect(try keys.nonce(resealing: version.nonce, ofValue: other) != nonce)
        }
        #expect(try keys.nonce(resealing: log.nonce(of: "other"), ofValue: hash) != nonce)
        // Padding does not count, and a value is not hashed with it.
        let padded = Array("IBAN-OF-SUPPLIER".utf8) + [UInt8](repeating: 7, count: 16)
        #expect(try padded.withRawBytes(version.hash(ofValue:)) == hash)
        #expect(hash == "IBAN-OF-SUPPLIER".utf8.span.bytes.withUnsafeBytes { RunningHash.hash(of: $0) })
    }

    /// Nobody keeps himself from being shut out by values that do not open, wherever and whenever he writes them.
    @Test(arguments: ["checkpoint", "record", "meanwhile"]) func aValueThatDoesNotOpenStaysAsItIs(
        _ part: String
    ) throws {
        let version = try #require(try log.history(.sample("iban"))?.content).current
        try log.set("earlier", "intact")
        @Sendable func plant(_ log: SealedLog) throws {
            let content = Entry.Content(created: 1, current: version, attributes: [])
            var entry = Entry(name: try .sample("planted"), modified: 5, content: content)
            entry.forEachVersion { $0.nonce = NonceSource.one() }
            try log.write(entry, [[UInt8](repeating: 7, count: version.boxLength)])
            entry = try #require(try log.history(.sample("earlier")))
            entry.earlier.append(EarlierVersion(modified: 1, version: try #require(entry.content).current))
            entry.earlier[0].version.nonce = NonceSource.one()
            try log.write(entry, [nil, [UInt8](repeating: 8, count: entry.earlier[0].version.boxLength)])
        }
        if part != "meanwhile" { try plant(log) }
        if part == "checkpoint" { try log.compact() }
        let files = FaultyFileSystem()
        let owner = try fixture.open(in: files)
        let isPlanted = Flag()
        files.watch(.write) { call in
            guard part == "meanwhile", call.path != fixture.path, !isPlanted.isSet else { return }
            isPlanted.set()
            try? plant(log)
        }
        #expect(try owner.rotate().unopened == ["earlier", "planted"])
        #expect(try owner.text("iban") == "IBAN-OF-SUPPLIER")
        #expect(try owner.text("earlier") == "intact")
        #expect(try LogError.code { _ = try owner.text("planted") } == .damaged)
        #expect(try LogError.code { try owner.verify() } == .damaged)
        // What it says of an intact vault.
        try owner.make([("planted", nil), ("earlier", nil)])
        try owner.make(changes: [owner.forgetting("planted"), owner.forgetting("earlier")])
        #expect(try owner.rotate().unopened == [])
        try owner.verify()
    }

    // MARK: Salvage

    @Test func noneOfThemIsCertainAfterASalvage() throws {
        try log.plant("planted", "0123456789abcdef", under: log.nonce(of: "iban"))
        let salvaged = try SalvagedVault(fixture, try fixture.bytes)
        #expect(salvaged.report.doubtful == ["iban", "planted"])
        #expect(salvaged.report.certain == 1)
        #expect(!salvaged.report.isComplete)
        #expect(salvaged.report.damage == ["different values that share a nonce, which this program never writes"])
        #expect(salvaged.state["iban"] == Array("IBAN-OF-SUPPLIER".utf8))
    }

    @Test func aSalvageIsNotCompleteIfRemovedNamesHaveThem() throws {
        try log.plant("planted", "0123456789abcdef", under: log.nonce(of: "iban"))
        try log.make([("planted", nil), ("iban", nil)])
        let salvaged = try SalvagedVault(fixture, try fixture.bytes)
        #expect(salvaged.report.certain == 1 && salvaged.report.doubtful == [] && salvaged.report.unnamed == 0)
        #expect(!salvaged.report.isComplete)
    }
}
