import Foundation
import Glibc
import LinuxSystem
import SealedLog
import Testing
import VaultTesting

@testable import VaultShared

@Suite("The copy of a vault that a machine keeps")
struct MirrorTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func mirror() -> Mirror { Mirror(of: "postgresql://a/x#team", in: folder.file("cache"), PosixFileSystem()) }

    private func head(_ generation: UInt64, size: UInt64) -> StoreHead {
        StoreHead(
            generation: generation, position: LogPosition(sequence: size, authenticator: .zero), size: size,
            hint: Hint(offset: 5, sequence: 6))
    }

    private func bytes(of mirror: Mirror, _ range: Range<UInt64>, generation: UInt64 = 1) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: range.count)
        return bytes.withUnsafeMutableBytes { mirror.copy(range, of: generation, into: $0) } ? bytes : nil
    }

    private func write(_ bytes: [UInt8], at offset: UInt64, to mirror: Mirror, generation: UInt64 = 1) -> Bool {
        bytes.withUnsafeBytes { mirror.write($0, at: offset, of: generation) }
    }

    @Test func hasWhatAnotherProcessHasKept() {
        mirror().keep(head(1, size: 10), [StoreBytes(offset: 2, bytes: [1, 2, 3])], isNew: true)
        let other = mirror()
        #expect(other.head == head(1, size: 10))
        #expect(bytes(of: other, 2..<5) == [1, 2, 3])
        #expect(bytes(of: other, 3..<4) == [2])
        #expect(bytes(of: other, 2..<6) == nil && bytes(of: other, 1..<3) == nil)
        #expect(bytes(of: other, 2..<5, generation: 2) == nil)
        #expect(other.completePath == nil)
    }

    @Test func countsWhatIsWrittenAheadOnceItIsTold() {
        let mirror = mirror()
        mirror.keep(head(1, size: 3), [StoreBytes(offset: 0, bytes: [1, 2, 3])], isNew: true)
        #expect(write([4, 5], at: 3, to: mirror))
        #expect(!write([9, 9], at: 3, to: mirror, generation: 2))
        mirror.keep(head(1, size: 5), [], isNew: false)
        #expect(bytes(of: mirror, 0..<5) == nil && mirror.completePath == nil)
        mirror.keep(head(1, size: 5), [], written: 3..<5, isNew: false)
        #expect(bytes(of: mirror, 0..<5) == [1, 2, 3, 4, 5])
        #expect(bytes(of: self.mirror(), 0..<5) == [1, 2, 3, 4, 5])
    }

    /// Where the log ends is believed, so it is not taken from another user's file; nor is that written.
    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"), arguments: [".state", ".vault"])
    func doesNotCountIfItIsAnotherUsers(suffix: String) throws {
        mirror().keep(head(1, size: 3), [StoreBytes(offset: 0, bytes: [1, 2, 3])], isNew: true)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("cache"))
        let path = folder.file("cache/\(try #require(names.first { $0.hasSuffix(suffix) }))")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        try #require(chown(path, 65_534, 65_534) == 0)
        let mirror = mirror()
        #expect((mirror.head == nil) == (suffix == ".state"))
        #expect(bytes(of: mirror, 0..<3) == nil)
        mirror.keep(head(1, size: 5), [StoreBytes(offset: 0, bytes: [5, 4, 3, 2, 1])], isNew: true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func joinsRangesThatTouch() {
        var ranges = ByteRanges()
        for range: Range<UInt64> in [10..<20, 30..<40, 50..<60, 0..<0] { ranges.insert(range) }
        #expect(ranges.sorted == [10..<20, 30..<40, 50..<60])
        ranges.insert(20..<25)
        ranges.insert(5..<8)
        #expect(ranges.sorted == [5..<8, 10..<25, 30..<40, 50..<60])
        ranges.insert(24..<55)
        #expect(ranges.sorted == [5..<8, 10..<60])
        #expect(ranges.contains(10..<60) && ranges.contains(11..<12) && !ranges.contains(7..<11))
        ranges.insert(0..<100)
        #expect(ranges.sorted == [0..<100])
    }

    @Test func isAVaultFileOnceItIsComplete() throws {
        let mirror = mirror()
        mirror.keep(head(1, size: 6), [StoreBytes(offset: 0, bytes: [1, 2, 3])], isNew: true)
        #expect(write([4, 5, 6], at: 3, to: mirror))
        mirror.keep(3..<6, of: 1)
        let path = try #require(mirror.completePath)
        #expect(try Array(Data(contentsOf: URL(fileURLWithPath: path))) == [1, 2, 3, 4, 5, 6])
        mirror.keep(head(1, size: 7), [], isNew: false)
        #expect(mirror.completePath == nil)
        mirror.keep(head(1, size: 7), [StoreBytes(offset: 6, bytes: [7])], isNew: false)
        #expect(mirror.completePath == path)
    }

    @Test func forgetsWhatACompactionHasReplaced() throws {
        let mirror = mirror()
        mirror.keep(head(1, size: 3), [StoreBytes(offset: 0, bytes: [1, 2, 3])], isNew: true)
        mirror.keep(head(2, size: 2), [StoreBytes(offset: 0, bytes: [9, 8])], isNew: true)
        #expect(bytes(of: mirror, 0..<3) == nil)
        #expect(bytes(of: mirror, 0..<2, generation: 2) == [9, 8])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("cache")).count == 2)
    }

    /// Whoever still reads what was replaced must not make its file anew: it would have zeros where bytes were kept.
    @Test func keepsItsFileWhileAnotherProcessGoesOn() throws {
        let late = mirror()
        late.keep(head(1, size: 6), [StoreBytes(offset: 0, bytes: [1, 2, 3])], isNew: true)
        mirror().keep(head(2, size: 2), [StoreBytes(offset: 0, bytes: [9, 8])], isNew: true)
        late.keep(head(1, size: 6), [StoreBytes(offset: 3, bytes: [4])], isNew: false)
        #expect(bytes(of: late, 0..<4) == [1, 2, 3, 4])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("cache")).count == 2)
        let next = mirror()
        #expect(bytes(of: next, 0..<4) == nil, "the file is gone")
    }

    /// A process that keeps an old page must not take back the end that another process has kept since.
    @Test func keepsWhatAnotherProcessHasAdded() {
        mirror().keep(head(1, size: 4), [StoreBytes(offset: 0, bytes: [1, 2])], isNew: true)
        let late = mirror()
        #expect(late.head == head(1, size: 4))
        mirror().keep(head(1, size: 6), [StoreBytes(offset: 4, bytes: [5, 6])], isNew: false)
        late.keep(head(1, size: 4), [StoreBytes(offset: 2, bytes: [3, 4])], isNew: false)
        let next = mirror()
        #expect(next.head == head(1, size: 6) && bytes(of: next, 0..<6) == [1, 2, 3, 4, 5, 6])
        late.keep(2..<3, of: 1)
        #expect(mirror().savedHead == head(1, size: 6) && late.head == head(1, size: 4))
    }

    /// Another process has accepted a server that was put back, or has followed another history.
    @Test(arguments: [4, 5, 6]) func addsNothingToAnotherHistory(sequence: UInt64) {
        mirror().keep(head(1, size: 5), [StoreBytes(offset: 0, bytes: [1, 2, 3])], isNew: true)
        let late = mirror()
        #expect(late.head == head(1, size: 5))
        let authenticator = [UInt8](repeating: 7, count: Authenticator.size).withUnsafeBytes { Authenticator($0) }
        let other = StoreHead(
            generation: 1, position: LogPosition(sequence: sequence, authenticator: authenticator), size: 9, hint: nil)
        mirror().keep(other, [StoreBytes(offset: 0, bytes: [7])], isNew: true)
        late.keep(head(1, size: 6), [StoreBytes(offset: 5, bytes: [6])], isNew: false)
        #expect(mirror().head == other)
    }

    /// Another process has kept something else since this one has looked whether its store may take the copy's place.
    @Test(arguments: [nil, 8]) func isReplacedOnlyAsItWasLookedAt(looked: UInt64?) {
        if let looked { mirror().keep(head(1, size: looked), [StoreBytes(offset: 0, bytes: [8])], isNew: true) }
        let late = mirror()
        #expect(late.savedHead?.size == looked)
        mirror().keep(head(1, size: 6), [StoreBytes(offset: 5, bytes: [6])], isNew: true)
        late.keep(head(1, size: 5), [StoreBytes(offset: 0, bytes: [1, 2])], isNew: true)
        #expect(mirror().head == head(1, size: 6) && bytes(of: mirror(), 5..<6) == [6])
        #expect(late.savedHead == head(1, size: 6))
        late.keep(head(1, size: 5), [StoreBytes(offset: 0, bytes: [1, 2])], isNew: true)
        #expect(mirror().head == head(1, size: 5) && bytes(of: mirror(), 0..<2) == [1, 2])
    }

    @Test func aThreadThatIsLateDoesNotBringBackAnEarlierGeneration() {
        let mirror = mirror()
        mirror.keep(head(1, size: 6), [StoreBytes(offset: 0, bytes: [1, 2, 3])], isNew: true)
        mirror.keep(head(2, size: 2), [StoreBytes(offset: 0, bytes: [9, 8])], isNew: true)
        mirror.keep(head(1, size: 6), [StoreBytes(offset: 3, bytes: [4])], isNew: false)
        #expect(bytes(of: mirror, 0..<2, generation: 2) == [9, 8])
        mirror.keep(head(2, size: 5), [StoreBytes(offset: 2, bytes: [7, 6, 5])], isNew: false)
        mirror.keep(head(2, size: 2), [], isNew: false)
        #expect(mirror.head == head(2, size: 5))
    }

    @Test func knowsToTheSecondWhenTheDatabaseAnswered() throws {
        mirror().keep(head(1, size: 3), [StoreBytes(offset: 0, bytes: [1, 2, 3])], isNew: true)
        let first = try #require(mirror().contact)
        Clock.sleep(microseconds: 3_000)
        mirror().keep(head(1, size: 3), [], isNew: false)
        let second = mirror().contact
        // A machine may stand still in between.
        if Clock.milliseconds < first + 1_000 { #expect(second == first) }
        Clock.sleep(microseconds: 1_001_000)
        mirror().keep(head(1, size: 3), [], isNew: false)
        #expect(try #require(mirror().contact) > first)
    }

    @Test(arguments: [0, 5, 8, 40, 70, 79, 95, 103]) func isNothingIfItsStateIsCut(_ length: Int) throws {
        mirror().keep(head(1, size: 3), [StoreBytes(offset: 0, bytes: [1, 2, 3])], isNew: true)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.file("cache"))
        let name = try #require(files.first { $0.hasSuffix(".state") })
        let url = URL(fileURLWithPath: "\(folder.file("cache"))/\(name)")
        try Data(contentsOf: url).prefix(length).write(to: url)
        #expect(bytes(of: mirror(), 0..<3) == nil)
    }
}
