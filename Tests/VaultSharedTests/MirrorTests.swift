import Foundation
import Glibc
import LinuxSystem
import SealedFormat
import TestSupport
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

    /// What was asked for before the log has followed it.
    @Test func countsWhatIsBehindItsEndOnceTheLogHasFollowedIt() {
        let mirror = mirror()
        mirror.keep(head(1, size: 3), [StoreBytes(offset: 0, bytes: [1, 2])], isNew: true)
        let straddling = StoreBytes(offset: 2, bytes: [8, 8])
        let behind = StoreBytes(offset: 3, bytes: [4, 5])
        #expect(!mirror.keep(straddling, of: head(1, size: 5)), "the server may have been put back")
        #expect(mirror.keep(behind, of: head(1, size: 5)) && !mirror.keep(behind, of: head(2, size: 5)))
        #expect(bytes(of: mirror, 3..<5) == nil && mirror.completePath == nil)
        #expect(mirror.keep(StoreBytes(offset: 2, bytes: [3]), of: head(1, size: 3)))
        mirror.keep(head(1, size: 5), [], isNew: false)
        #expect(bytes(of: mirror, 0..<5) == [1, 2, 3, 4, 5])
        #expect(bytes(of: self.mirror(), 0..<5) == [1, 2, 3, 4, 5])
    }

    /// It may be of another history than what the log goes on with.
    @Test func whatIsBehindItsEndIsWrittenOver() {
        let mirror = mirror()
        mirror.keep(head(1, size: 2), [StoreBytes(offset: 0, bytes: [1, 2])], isNew: true)
        #expect(mirror.keep(StoreBytes(offset: 2, bytes: [9, 9]), of: head(1, size: 4)))
        mirror.keep(head(1, size: 3), [StoreBytes(offset: 1, bytes: [8, 3])], isNew: false)
        #expect(bytes(of: self.mirror(), 0..<3) == [1, 2, 3])
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

    @Test func knowsWhichPartsOfARangeAreNotThere() {
        let ranges: RangeSet<UInt64> = RangeSet([2..<4, 6..<9])
        for (lower, upper, end) in (UInt64(0)..<11).flatMap({ lower in
            (lower..<12).flatMap { upper in (UInt64(0)..<12).map { (lower, upper, $0) } }
        }) {
            let missing = (lower..<upper).filter { byte in byte >= end || !ranges.contains(byte) }
            #expect(ranges.gaps(in: lower..<upper, upTo: end).flatMap { Array($0) } == missing)
        }
    }

    @Test func isAVaultFileOnceItIsComplete() throws {
        let mirror = mirror()
        mirror.keep(head(1, size: 6), [StoreBytes(offset: 0, bytes: [1, 2, 3])], isNew: true)
        #expect(mirror.keep(StoreBytes(offset: 3, bytes: [4, 5, 6]), of: head(1, size: 6)))
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
        #expect(!late.keep(head(1, size: 6), [StoreBytes(offset: 3, bytes: [4])], isNew: false))
        #expect(!late.keep(StoreBytes(offset: 3, bytes: [4]), of: head(1, size: 6)))
        #expect(bytes(of: late, 0..<3) == [1, 2, 3])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("cache")).count == 2)
        #expect(bytes(of: mirror(), 0..<3) == nil, "the file is gone")
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
        #expect(late.keep(StoreBytes(offset: 2, bytes: [9]), of: head(1, size: 4)))
        #expect(mirror().savedHead == head(1, size: 6) && bytes(of: mirror(), 0..<6) == [1, 2, 3, 4, 5, 6])
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
    @Test(arguments: [nil, 8], [1, 2]) func isReplacedOnlyAsItWasLookedAt(looked: UInt64?, generation: UInt64) {
        if let looked {
            mirror().keep(head(generation, size: looked), [StoreBytes(offset: 0, bytes: [8])], isNew: true)
        }
        let late = mirror()
        #expect(late.savedHead?.size == looked)
        let others: [UInt8] = [6, 5, 4, 3, 2, 1]
        mirror().keep(head(generation, size: 6), [StoreBytes(offset: 0, bytes: others)], isNew: true)
        late.keep(head(1, size: 5), [StoreBytes(offset: 0, bytes: [1, 2])], isNew: true)
        #expect(mirror().head == head(generation, size: 6))
        #expect(bytes(of: mirror(), 0..<6, generation: generation) == others)
        #expect(late.savedHead == head(generation, size: 6))
        let piece = StoreBytes(offset: 0, bytes: [1, 2])
        #expect(!late.keep(head(1, size: 5), [piece], isNew: true), "it has only been looked at")
        late.setIncluded(head(generation, size: 6).position)
        #expect(late.keep(head(1, size: 5), [piece], isNew: true))
        #expect(mirror().head == head(1, size: 5) && bytes(of: mirror(), 0..<2) == [1, 2])
        #expect(bytes(of: mirror(), 0..<5) == nil, "nothing that was kept before counts")
    }

    /// Whatever is refused, nothing of what was kept is written over.
    @Test func isNotWrittenOverByWhatIsRefused() {
        mirror().keep(head(1, size: 5), [StoreBytes(offset: 0, bytes: [1, 2, 3])], isNew: true)
        let late = mirror()
        #expect(late.head == head(1, size: 5))
        mirror().keep(head(1, size: 4), [StoreBytes(offset: 0, bytes: [4, 3, 2, 1])], isNew: true)
        late.keep(head(1, size: 6), [StoreBytes(offset: 2, bytes: [9, 9, 9, 9])], isNew: false)
        #expect(mirror().head == head(1, size: 4) && bytes(of: mirror(), 0..<4) == [4, 3, 2, 1])
    }

    /// Blocks that wait, and the bytes of a server that was put back, while another process has kept later changes.
    @Test func isNotCompletedBehindTheCommonEnd() {
        mirror().keep(head(1, size: 4), [StoreBytes(offset: 0, bytes: [1, 2, 3, 4])], isNew: true)
        let late = mirror()
        #expect(late.head == head(1, size: 4))
        mirror().keep(head(1, size: 9), [StoreBytes(offset: 6, bytes: [7])], isNew: false)
        for offset: UInt64 in [0, 4, 8] {
            let block = StoreBytes(offset: offset, bytes: [UInt8](repeating: 9, count: Int(9 - offset)))
            #expect(!late.keep(block, of: head(1, size: 8)))
            late.keep(head(1, size: 8), [block], isNew: false)
        }
        #expect(mirror().ranges(of: 1) == [0..<4, 6..<7] && bytes(of: mirror(), 0..<4) == [1, 2, 3, 4])
        #expect(late.keep(StoreBytes(offset: 9, bytes: [9]), of: head(1, size: 10)))
        #expect(mirror().head == head(1, size: 9) && bytes(of: mirror(), 6..<7) == [7])
        late.setIncluded(head(1, size: 9).position)
        late.keep(head(1, size: 10), [StoreBytes(offset: 4, bytes: [5, 6, 9, 8, 9])], isNew: false)
        #expect(bytes(of: mirror(), 0..<10) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 9])
    }

    /// A process, and where the log ended in the last copy that it includes.
    private struct Process {
        let mirror: Mirror
        var included: LogPosition?

        init(_ mirror: Mirror) {
            self.mirror = mirror
            included = mirror.head?.position
        }
    }

    /// What counts in the copy: its head, and each byte below it that is there.
    private func counting() -> (head: StoreHead, bytes: [UInt64: [UInt8]])? {
        let mirror = mirror()
        guard let head = mirror.head, let ranges = mirror.ranges(of: head.generation) else { return nil }
        let offsets = ranges.joined().filter { $0 < head.size }
        return (
            head,
            Dictionary(
                uniqueKeysWithValues: offsets.map {
                    ($0, bytes(of: mirror, $0..<$0 + 1, generation: head.generation) ?? [])
                })
        )
    }

    /// Three processes with histories of their own, in any order: what counts is never written over, unless all of it
    /// is replaced by a process that includes what was kept last.
    @Test(arguments: 0..<40) func whatCountsIsNeverWrittenOver(seed: Int) throws {
        var chance = SeededGenerator(seed)
        func number(_ range: ClosedRange<UInt64>) -> UInt64 { UInt64.random(in: range, using: &chance) }
        var processes = (0..<3).map { _ in Process(mirror()) }
        var replacements = 0
        for _ in 0..<60 {
            let former = counting()
            let index = Int(number(0...2))
            if number(0...9) == 0 { processes[index] = Process(mirror()) }
            let process = processes[index]
            if number(0...3) == 0, let former {
                process.mirror.setIncluded(former.head.position)
                processes[index].included = former.head.position
            }
            let size = number(1...9)
            let authenticator = [UInt8](repeating: UInt8(number(0...1)), count: Authenticator.size)
                .withUnsafeBytes { Authenticator($0) }
            let position = LogPosition(sequence: size, authenticator: authenticator)
            let head = StoreHead(generation: number(1...2), position: position, size: size, hint: nil)
            let offset = number(0...size)
            let bytes = (0..<number(0...9 - offset)).map { _ in UInt8(number(0...255)) }
            let piece = StoreBytes(offset: offset, bytes: bytes)
            let isFollowed = number(0...2) > 0
            let isNew = number(0...1) == 0
            let isKept =
                isFollowed ? process.mirror.keep(head, [piece], isNew: isNew) : process.mirror.keep(piece, of: head)
            let included = processes[index].included
            let new = counting()
            if isFollowed, isKept, new?.head.position == position { processes[index].included = position }
            guard let former else { continue }
            if isFollowed, isKept, isNew {
                replacements += 1
                #expect([included, position].contains(former.head.position))
                #expect(new?.head == head)
            } else {
                #expect(new?.head.generation == former.head.generation)
                #expect(former.bytes.allSatisfy { new?.bytes[$0.key] == $0.value })
            }
        }
        #expect(replacements > 0)
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
