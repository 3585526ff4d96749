import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

/// A new data key: everything is sealed anew, and the old one opens nothing any more.
@Suite("Rotation of the data key")
struct RotationTests {
    private let fixture: LogFixture
    private let files = FaultyFileSystem()
    private let log: SealedLog
    /// Writes through a handle of its own, as another process does.
    private let other: SealedLog

    init() throws {
        fixture = try LogFixture(history: .standard)
        log = try fixture.open(in: files, remembering: true)
        other = try fixture.open(remembering: true)
        let attributes = [Attribute(key: "k", value: "v")]
        try log.make(changes: [log.change("with attributes", to: [1], attributes: attributes)])
        for text in ["first", "second", "third"] {
            try log.make((0..<20).map { ("name \($0)", Array("\(text) \($0)".utf8)) })
        }
        try log.remove("name 19")
        try log.make(changes: [log.restoring("name 0", 1)])
    }

    // MARK: What is kept

    @Test func everythingReadsAsBefore() throws {
        try log.compact()
        // In the checkpoint, in the tree of a minor checkpoint, and in records.
        try log.make((0..<500).map { ("more \($0)", Array("more \($0)".utf8)) })
        try log.make([("name 1", [1]), ("more 7", nil)])
        let states = try log.states()
        let id = try fixture.header.vaultID
        let fingerprint = try log.fingerprint()
        try log.rotate()
        for reader in [log, other, try fixture.open(remembering: true)] {
            #expect(try reader.states() == states)
            #expect(try reader.verify().entries == 519)
            #expect(try reader.fingerprint() != fingerprint)
            #expect(reader.vaultID == id)
        }
        try log.expectTotalsToBeRight()
        #expect(try log.information().deadBytes == 0)
        #expect(try log.information().keySlots.map(\.label) == ["a label"])
    }

    /// Each rotation draws a data key.
    @Test func noTwoRotationsComeToTheSameKey() throws {
        var fingerprints = Set([try log.fingerprint()])
        for _ in 0..<3 {
            try log.rotate()
            fingerprints.insert(try log.fingerprint())
        }
        #expect(fingerprints.count == 4)
    }

    /// The nonces too: who has both files and the old key learns no value that was set since.
    @Test func theFormerKeysOpenNothingOfTheNewFile() throws {
        try log.compact()
        let former = log.view.withLock { $0 }
        let formerNonces = Set(try log.entriesWithoutOffsets().flatMap { $0.versions.map(\.nonce) })
        try log.rotate()
        try log.make((0..<500).map { ("more \($0)", [1]) })
        try log.set("a", "after it")
        let view = log.view.withLock { $0 }
        #expect(try LogError.code { _ = try Header.authenticate(fixture.bytes, with: former.keys) } == .damaged)
        let stolen = LogView(
            store: view.store, keys: former.keys, header: view.header, authenticator: view.origin.authenticator)
        #expect(try LogError.code { _ = try stolen.manifest() } == .damaged)
        for root in [view.header.root, view.minor?.root] {
            let root = try #require(root)
            #expect(try LogError.code { _ = try stolen.loader.load(root, level: nil) } == .damaged)
        }
        var reader = stolen.reader
        var offset = view.header.checkpointEnd
        for record in try RecordList(fixture.path).records {
            #expect(record.lowerBound == Int(offset))
            if case .record = try reader.record(at: offset, after: nil) { Issue.record("record at \(offset)") }
            offset = UInt64(record.upperBound)
        }
        var opener = try ValueOpener(of: view.store, keys: former.keys)
        var merge = try view.entries()
        var count = 0
        while let entry = try merge.next() {
            for version in entry.versions {
                #expect(!formerNonces.contains(version.nonce))
                #expect(try LogError.code { try opener.open(version) } == .damaged)
                count += 1
            }
        }
        #expect(count == formerNonces.count + 501)
    }

    @Test func thePartsOfTheOldFileAreNotInTheNewOne() throws {
        try log.compact()
        let before = log.view.withLock { $0 }
        let boxes = try log.entriesWithHistory().flatMap(\.versions).map { version in
            try before.store.bytes(at: version.offset, count: version.boxLength)
        }
        try log.rotate()
        let bytes = try fixture.bytes
        for box in boxes { #expect(!bytes.holds(box)) }
    }

    // MARK: Open logs

    @Test func aLogThatWasOpenGoesOnReadingAndWriting() throws {
        for round in 0..<3 {
            try log.rotate()
            #expect(try other.text("name 5") == "third 5")
            try other.set("round", "\(round)")
            #expect(try log.text("round") == "\(round)")
            #expect(try other.fingerprint() == log.fingerprint())
        }
        // As it is without reading first.
        try log.rotate()
        try other.set("name 5", "written")
        #expect(try log.text("name 5") == "written")
        try other.rotate()
        #expect(try log.text("name 5") == "written")
        try log.verify()
    }

    @Test(arguments: [true, false]) func aLogWhoseSlotWasDroppedIsLockedOut(isRotated: Bool) throws {
        _ = try log.changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in
            try table.add(passphrase("abc"), limits: .low, label: "to be dropped")
        }
        var unlocker = CredentialUnlocker { () throws(LogError) in try passphrase("abc") }
        let dropped = try Opening(location: fixture.location, options: fixture.options())
            .opened(&unlocker)
        #expect(try dropped.text("name 5") == "third 5")
        _ = try log.changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in
            try table.remove(table.slots[1].salt)
            if isRotated { try table.rotate { (_) throws(LogError) in throw LogError(.keyWrong) } }
        }
        let code = isRotated ? LogError.Code.keyWrong : nil
        #expect(try LogError.code { _ = try dropped.text("name 5") } == code)
        #expect(try LogError.code { try dropped.set("name 5", "x") } == code)
        // The key that was dropped opens the old file alone; a new data key makes that useless for the new one.
        unlocker = CredentialUnlocker { () throws(LogError) in try passphrase("abc") }
        let opening = Opening(location: fixture.location, options: fixture.options())
        #expect(try LogError.code { _ = try opening.opened(&unlocker) } == .keyWrong)
    }

    @Test func aTransactionThatWasSealedBeforeIsStored() throws {
        let before = try [log, other].map { log in
            let changes = try [log.change("sealed before", to: Array("it".utf8)), log.change("name 3", to: nil)]
            return (log, changes + [try log.restoring("name 4", 0)])
        }
        try log.rotate()
        for (log, changes) in before {
            let later = try log.change("sealed after", to: Array("it too".utf8))
            try log.make(changes: changes.dropLast() + [later])
            for reader in [self.log, other, try fixture.open(remembering: true)] {
                #expect(try reader.text("sealed before") == "it")
                #expect(try reader.text("sealed after") == "it too")
                #expect(try reader.text("name 3") == nil)
            }
            try log.verify()
        }
        // A version is known by its nonce, which is another one now.
        #expect(try LogError.code { try log.make(changes: before[0].1.suffix(1)) } == .conflict)
    }

    // MARK: Beside others

    @Test(arguments: [0, 65, 300]) func whatIsWrittenMeanwhileIsKept(_ count: Int) throws {
        defer { files.heal() }
        let left = unpublishedPath(for: fixture.path)
        let hasRun = Flag()
        files.watch(.write) { [other] call in
            guard call.path == left, !hasRun.isSet else { return }
            hasRun.set()
            do {
                for number in 0..<count { try other.set("new \(number)", "\(number)") }
                for number in 0..<10 { try other.set("name \(number)", "fourth") }
                try other.remove("name 18")
                try other.make(changes: [other.restoring("name 17", 1)])
            } catch { Issue.record(error) }
        }
        try log.rotate()
        #expect(hasRun.isSet)
        files.heal()
        for reader in [log, other, try fixture.open(remembering: true)] {
            let states = try reader.states()
            #expect(states["name 5"]?.present == "fourth")
            #expect(states["name 5"]?.earlier.map(\.text) == ["third 5", "second 5", "first 5"])
            #expect(states["name 18"]?.earlier.map(\.text) == ["third 18", "second 18", "first 18"])
            #expect(states["name 17"]?.present == "first 17")
            for number in 0..<count { #expect(states["new \(number)"]?.present == "\(number)") }
            #expect(try reader.verify().entries == 20 - 1 + count)
        }
        try log.expectTotalsToBeRight()
        try other.set("name 5", "fifth")
        #expect(try log.text("name 5") == "fifth")
    }

    /// Both decide on the slots without a lock. The later one must not bring back what the first has dropped.
    @Test func aChangeOfTheKeysThatAnotherHasOvertakenIsRefused() throws {
        let code = try LogError.code {
            _ = try log.changeKeys(timeout: .milliseconds(500)) { (table) throws(LogError) in
                _ = try? other.rotate()
                try table.add(passphrase("abc"), limits: .low, label: "")
            }
        }
        #expect(code == .conflict)
        #expect(try log.keySlots().slots.count == 1)
        #expect(try fixture.open().text("name 5") == "third 5")
    }

    // MARK: Other machines

    @Test(arguments: [1, 8, 9, 30]) func anotherMachineAcceptsTheNewFileAndNoOldOne(_ rotations: Int) throws {
        let options = SealedLog.Options(memoryFolder: fixture.folder.file("memory of another machine"))
        func elsewhere() throws -> SealedLog { try openApart(fixture.path, options: options, readKey: fixture.key) }
        #expect(try elsewhere().text("name 5") == "third 5")
        let former = try fixture.bytes
        for _ in 0..<rotations { try log.rotate() }
        let rotated = try fixture.bytes
        // It does not know of the new key yet, and this file is what it has seen.
        try replace(fixture.path, with: former)
        #expect(try LogError.code { _ = try elsewhere().text("name 5") } == nil)
        for _ in 0..<2 {
            try replace(fixture.path, with: rotated)
            #expect(try elsewhere().text("name 5") == "third 5")
            try replace(fixture.path, with: former)
            #expect(try LogError.code { _ = try elsewhere().text("name 5") } == .rolledBack)
        }
    }

    /// Nobody keeps a rotation from shutting him out by filling the list.
    @Test func theNewestFormerKeysAreKept() throws {
        var manifest = Manifest(created: 1, totals: Totals(), chain: [], labels: [], settings: [])
        let keys = (0...Limits.formerKeys).map { _ in RandomBytes.array(32) }
        for key in keys.dropLast() { manifest.addFormer(memoryKey: key) }
        #expect(manifest.formerMemoryKeys == keys.dropLast())
        let parsed = try Manifest(parsing: manifest.encoded, of: Header.sample(slots: 0))
        #expect(parsed.formerMemoryKeys == manifest.formerMemoryKeys)
        #expect(manifest.encoded.count + SecretBox.tagSize <= Limits.indexSize)
        manifest.addFormer(memoryKey: keys[Limits.formerKeys])
        #expect(manifest.formerMemoryKeys == Array(keys[1...]))
        // Known ones take no room, and become the newest.
        manifest.addFormer(memoryKey: keys[1])
        #expect(manifest.formerMemoryKeys == keys[2...] + [keys[1]])
    }

    /// Those of another copy push none of this vault's out.
    @Test func theFormerKeysOfACopyTakeTheRoomThatIsLeft() {
        var manifest = Manifest(created: 1, totals: Totals(), chain: [], labels: [], settings: [])
        let own = (0..<Limits.formerKeys - 2).map { _ in RandomBytes.array(32) }
        for key in own { manifest.addFormer(memoryKey: key) }
        let others = (0..<3).map { _ in RandomBytes.array(32) }
        manifest.addFormer(ofCopy: others[..<2] + [own[5]])
        #expect(manifest.formerMemoryKeys == others[..<2] + own)
        manifest.addFormer(ofCopy: [others[2]])
        #expect(manifest.formerMemoryKeys == others[..<2] + own)
    }

    /// What it has seen was authenticated by the former key: a file that lacks it is noticed all the same.
    @Test func anotherMachineNoticesARotatedFileThatLacksWhatItHasSeen() throws {
        let options = SealedLog.Options(memoryFolder: fixture.folder.file("memory of another machine"))
        func elsewhere() throws -> SealedLog { try openApart(fixture.path, options: options, readKey: fixture.key) }
        let former = try fixture.bytes
        try elsewhere().set("seen", "there alone")
        try overwrite(fixture.path, former)
        let log = try openApart(fixture.path, options: SealedLog.Options(), readKey: fixture.key)
        for number in 0..<4 { try log.set("name 5", "\(number)") }
        try log.rotate()
        #expect(try LogError.code { _ = try elsewhere().text("name 5") } == .diverged)
    }

    @Test func thisMachineAcceptsNoFileFromBefore() throws {
        let former = try fixture.bytes
        try log.rotate()
        let rotated = try fixture.bytes
        try replace(fixture.path, with: former)
        #expect(try LogError.code { _ = try fixture.open(remembering: true) } == .rolledBack)
        #expect(try LogError.code { _ = try log.text("name 5") } != nil)
        #expect(try fixture.bytes == former)
        let accepting = try fixture.open(remembering: true, accepting: [.rolledBack])
        #expect(try accepting.text("name 5") == "third 5")
        try replace(fixture.path, with: rotated)
        #expect(try fixture.open(remembering: true).text("name 5") == "third 5")
    }

    /// What a later key authenticates is later, whatever its number is.
    @Test func whoKnowsTheFormerKeyAloneLeavesTheMemoryAsItIs() throws {
        let former = try #require(other.memory)
        try log.rotate()
        let seen = try #require(log.memory?.seen())
        former.remember(LogPosition(sequence: seen.position.sequence + 5, authenticator: randomAuthenticator()))
        #expect(log.memory?.seen() == seen)
        let bytes = try #require(former.newest())
        #expect(former.remember(LogPosition(sequence: 2, authenticator: randomAuthenticator()), insteadOf: bytes))
        #expect(former.seen()?.position.sequence == 2)
    }

    // MARK: Failures

    @Test func aSecretThatOpensNoSlotChangesNothing() throws {
        _ = try log.changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in
            try table.add(passphrase("abc"), limits: .low, label: "")
        }
        func renewal(_ text: String, _ slot: KeySlot) throws(LogError) -> SlotTable.Renewal {
            guard let renewal = try SlotTable.Renewal(of: slot, openedBy: passphrase(text)) else {
                throw LogError(.keyWrong)
            }
            return renewal
        }
        let bytes = try fixture.bytes
        let code = try LogError.code {
            try log.rotate { (slot) throws(LogError) in try renewal("abd", slot) }
        }
        #expect(code == .keyWrong)
        #expect(try fixture.bytes == bytes)
        try log.rotate { (slot) throws(LogError) in try renewal("abc", slot) }
        #expect(try log.keySlots().index(openedBy: passphrase("abc")) == 1)
    }

    @Test func afterACallThatFailsTheOldKeysOrTheNewOnesOpenAll() throws {
        let states = try log.states()
        var outcomes: Set<Bool> = []
        for skipped in 0..<60 {
            let before = try log.fingerprint()
            files.fail(FileCall.changing, after: skipped, with: .error(EIO))
            let isDone = try LogError.code { try log.rotate() } == nil
            let hasFailed = files.failures > 0
            files.heal()
            for reader in [try fixture.open(remembering: true), other] {
                #expect(try reader.states() == states, "after \(skipped) calls")
                #expect(try !isDone || reader.fingerprint() != before, "after \(skipped) calls")
                try reader.verify()
            }
            outcomes.insert(isDone)
            if isDone && !hasFailed { break }
        }
        #expect(outcomes == [true, false])
    }

    @Test(arguments: 1..<24) func afterAPowerLossTheOldKeysOrTheNewOnesOpenAll(_ calls: Int) throws {
        let crashing = try CrashingFileSystem(fixture.folder.path)
        let log = try fixture.open(in: crashing, remembering: true)
        let states = try log.states()
        let former = try log.fingerprint()
        crashing.losePower(afterCalls: calls)
        let isDone = try LogError.code { try log.rotate() } == nil
        for seed in 0..<4 {
            let next = try TemporaryFolder()
            try crashing.materialize(into: next.path, seed: seed)
            // The memory may have reached the disk whole.
            try? FileManager.default.removeItem(atPath: next.file("state"))
            try FileManager.default.copyItem(atPath: fixture.memory, toPath: next.file("state"))
            let options = SealedLog.Options(memoryFolder: next.file("state"))
            let reopened = try openApart(next.file("default.vault"), options: options, readKey: fixture.key)
            #expect(try reopened.states() == states)
            #expect(try !isDone || reopened.fingerprint() != former)
            try reopened.set("next", "change")
            try reopened.verify()
        }
    }
}
