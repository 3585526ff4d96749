import Foundation
import Glibc
import LinuxSystem
import Sealing
import TestSupport
import Testing
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

@Suite("Access log")
struct AccessLogTests {
    private let fixture: AccessLogFixture

    init() throws { fixture = try AccessLogFixture() }

    @Test func whatWasRecordedIsReadInItsOrder() throws {
        #expect(try fixture.report().records == [])
        let all = Access(
            name: "a", command: "run", program: "/bin/sh", process: 4_711, user: .max, started: "/usr/bin/env")
        let before = Clock.milliseconds
        try fixture.log().append(all, until: Deadline(after: .zero))
        try fixture.append("b", "")
        let report = try fixture.report()
        #expect(report.damage == [])
        #expect(report.records.map(\.number) == [1, 2, 3])
        #expect(report.records.map(\.access) == [all, fixture.access("b"), fixture.access("")])
        #expect(report.records.allSatisfy { (before...Clock.milliseconds).contains($0.time) })
        #expect(report.dropped == 0)
    }

    @Test func longTextsAreCutBetweenCharacters() throws {
        let long = String(repeating: "ü", count: 3_000)
        let access = Access(name: long, command: long, program: "x" + long, process: 0, user: 0, started: long)
        #expect(access.name.utf8.count == 1_024 && access.command.utf8.count == 64)
        #expect(access.program.utf8.count == 1_023 && access.program.allSatisfy { "xü".contains($0) })
        try fixture.log().append(access, until: Deadline(after: .zero))
        #expect(try fixture.report().records.map(\.access) == [access])
        #expect(try contents(fixture.path).count <= AccessFrame.largestSize)
    }

    @Test func nothingOfItIsInTheFile() throws {
        try fixture.append("a name that is secret")
        let bytes = try contents(fixture.path)
        for text in ["secret", "/bin/sh", "get"] { #expect(!bytes.holds(text.utf8)) }
        #expect(try PosixFileSystem().status(at: fixture.path).mode == 0o600)
        #expect(bytes.count == 128)
        try fixture.append("b")
        #expect(try contents(fixture.path).count == 2 * 128, "the lengths of names are padded")
    }

    @Test func aFullFileMakesRoomForTheNextOne() throws {
        var log = try fixture.log()
        log.fileSize = 1_024
        for number in 1...23 {
            try fixture.append("\(number)", to: log)
            let report = try fixture.report(log)
            #expect(report.damage == [])
            #expect(report.names == (Int(report.dropped) + 1...number).map(String.init))
            // At least the file that is full.
            #expect(report.records.count >= min(number, 8))
        }
        #expect(try fixture.report(log).dropped == 8)
        for path in [fixture.path, fixture.formerPath] { #expect(try contents(path).count <= 1_024) }
        // A file that is gone, as after a crash between the names.
        try FileManager.default.removeItem(atPath: fixture.path)
        try fixture.append("after it", to: log)
        #expect(try fixture.report(log).damage == [])
        #expect(try fixture.report(log).names == (9...16).map(String.init) + ["after it"])
    }

    @Test func recordsOfAFormerKeyAreReadAndContinued() throws {
        try fixture.append("a", "b")
        let rotated = try fixture.log(under: randomKeys())
        #expect(try fixture.report(rotated).names == ["a", "b"])
        try fixture.append("c", to: rotated)
        let report = try fixture.report(rotated)
        #expect(report.damage == [] && report.names == ["a", "b", "c"] && report.records.map(\.number) == [1, 2, 3])
        // Who has the former key alone opens nothing that is recorded since.
        #expect(try fixture.report().names == ["a", "b"])
    }

    // MARK: Damage

    @Test func aChangedByteIsNoticed() throws {
        try fixture.append("a", "b", "c")
        let original = try contents(fixture.path)
        for offset in original.indices {
            var changed = original
            changed[offset] ^= UInt8(1 << (offset % 8))
            try overwrite(fixture.path, changed)
            let report = try fixture.report()
            let record = offset / 128
            let remaining = ["a", "b", "c"].enumerated().filter { $0.offset != record }.map(\.element)
            #expect(report.names == remaining)
            // Without its frame or its end, the last record looks like one that was not written completely.
            let isTorn = record == 2 && (offset % 128 < 16 || changed.last == 0)
            #expect(report.offsets == (isTorn ? [] : [record * 128]), "byte \(offset)")
        }
    }

    @Test func aRecordThatWasMovedDroppedOrDoubledIsNoticed() throws {
        try fixture.append("a", "b", "c", "d")
        let bytes = try contents(fixture.path)
        func joined(_ order: [Int]) -> [UInt8] { order.flatMap { bytes[$0 * 128..<($0 + 1) * 128] } }
        for (order, offsets) in [
            ([0, 1, 3], [256]), ([0, 2, 3], [128]), ([1, 0, 2, 3], [128, 256]), ([0, 1, 1, 2, 3], [256]),
            ([0, 2, 1, 3], [128, 256, 384]), ([0, 1, 2, 3], []), ([1, 2, 3], []), ([0, 1, 2], []),
        ] {
            try overwrite(fixture.path, joined(order))
            #expect(try fixture.report().offsets == offsets, "\(order)")
        }
        // The first ones may have made room.
        try overwrite(fixture.path, joined([1, 2, 3]))
        #expect(try fixture.report().dropped == 1)
    }

    /// It has the number that is expected.
    @Test func aRecordOfAnOlderLogIsNoticed() throws {
        try fixture.append("a", "b")
        let older = try contents(fixture.path)
        try overwrite(fixture.path, Array(older[..<128]))
        try fixture.append("c", "d")
        let newer = try contents(fixture.path)
        try overwrite(fixture.path, older + newer[256...])
        #expect(try fixture.report().offsets == [256])
        #expect(try fixture.report().names == ["a", "b", "d"])
    }

    @Test func anotherVaultsRecordsAreDamage() throws {
        try fixture.append("a")
        let other = try AccessLogFixture()
        try other.append("b", "c")
        try overwrite(fixture.path, contents(other.path) + contents(fixture.path))
        #expect(try fixture.report().offsets == [0])
    }

    @Test func damageIsLeftAsItIsAndWritersGoOnBehindIt() throws {
        try fixture.append("a")
        for count in [5_000, 20_000] {
            let before = try contents(fixture.path) + RandomBytes.array(count)
            try overwrite(fixture.path, before)
            try fixture.append("b", "c")
            #expect(try contents(fixture.path).starts(with: before))
        }
        let report = try fixture.report()
        #expect(report.names == ["a", "b", "c", "b", "c"] && report.records.map(\.number) == [1, 2, 3, 4, 5])
        #expect(report.damage.count == 2 && report.offsets.first == 128)
    }

    // MARK: Accidents

    /// kill -9 and a full disk end a write at any byte, of a record that is longer or shorter than the next one.
    @Test(arguments: [0, 300], [(1, 100), (100, 1)])
    func aWriteThatIsCutOffLeavesTheRecordsBeforeIt(_ zeros: Int, _ lengths: (Int, Int)) throws {
        let name = String(repeating: "c", count: lengths.0)
        let next = String(repeating: "d", count: lengths.1)
        try fixture.append("a", "b")
        let before = try contents(fixture.path) + [UInt8](repeating: 0, count: zeros)
        let size = lengths.0 == 1 ? 128 : 256
        for count in 0...size {
            try overwrite(fixture.path, before)
            let files = FaultyFileSystem()
            files.fail([.write], with: .short(count, ENOSPC))
            let code = try LogError.code { try fixture.append(name, to: fixture.log(in: files)) }
            #expect(code == .accessLogUnusable)
            #expect(try fixture.report().damage == [], "\(count) bytes")
            #expect(try fixture.report().names == (count == size ? ["a", "b", name] : ["a", "b"]))
            // The next writer is cut off too, while it overwrites the rest or writes its own.
            for write in 0...1 {
                files.heal()
                files.fail([.write], after: write, with: .short(count / 2, EIO))
                _ = try LogError.code { try fixture.append(next, to: fixture.log(in: files)) }
                #expect(try fixture.report().damage == [], "\(count) bytes, write \(write)")
            }
            try fixture.append("e")
            let names = try fixture.report().names
            #expect(names.starts(with: ["a", "b"]) && names.last == "e")
            #expect(try fixture.report().damage == [])
        }
    }

    @Test func aFailedCallRecordsNothingByHalves() throws {
        for kind in [FileCall.open, .status, .lock, .read, .makeFolder, .rename] {
            for number in 0..<6 {
                let fixture = try AccessLogFixture()
                let files = FaultyFileSystem()
                var log = try fixture.log(in: files)
                log.fileSize = 512
                if kind != .makeFolder { try fixture.append("a", "b", to: log) }
                files.fail([kind], after: number, with: .error(EIO))
                let code = try LogError.code { try fixture.append("c", to: log) }
                #expect(code == (files.failures > 0 ? .accessLogUnusable : nil), "\(kind) \(number)")
                files.heal()
                try fixture.append("d", to: log)
                let report = try fixture.report(log)
                #expect(report.damage == [] && report.names.last == "d")
            }
        }
    }

    @Test func aFileThatIsNotTheUsersAloneIsAnError() throws {
        try fixture.append("a")
        let target = fixture.folder.file("another file")
        try overwrite(target, [])
        func expectRefusal(_ words: String) throws {
            let log = try fixture.log()
            for isReading in [false, true] {
                do throws(LogError) {
                    if isReading {
                        _ = try log.read(until: Deadline(after: .zero))
                    } else {
                        try log.append(fixture.access("b"), until: Deadline(after: .zero))
                    }
                    Issue.record("\(words) was accepted")
                } catch {
                    #expect(error.code == .accessLogUnusable && error.detail.contains(words), "\(error)")
                }
            }
        }
        try setMode(fixture.path, 0o620)
        try expectRefusal("others can write")
        try FileManager.default.removeItem(atPath: fixture.path)
        try #require(symlink(target, fixture.path) == 0)
        try expectRefusal("is a symbolic link")
        try FileManager.default.removeItem(atPath: fixture.path)
        try FileManager.default.createDirectory(atPath: fixture.path, withIntermediateDirectories: false)
        try expectRefusal("is a folder")
        #expect(try contents(target) == [])
    }

    @Test func aLogThatAnotherHoldsIsBusy() throws {
        try fixture.append("a")
        let files = PosixFileSystem()
        let holder = try files.open(fixture.path, .read)
        try files.lock(holder, .exclusive, until: Deadline(after: .zero))
        #expect(
            try LogError.code { try fixture.log().append(fixture.access("b"), until: Deadline(after: .zero)) } == .busy)
        #expect(try LogError.code { _ = try fixture.log().read(until: Deadline(after: .zero)) } == .busy)
        files.unlock(holder)
    }
}
