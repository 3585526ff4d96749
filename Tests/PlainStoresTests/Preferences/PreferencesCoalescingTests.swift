import Foundation
import LinuxSystem
import TestSupport
import Testing

@testable import PlainStores

@Suite("Coalescing preferences")
struct PreferencesCoalescingTests {
    private let fixture: PreferencesFixture
    private let files = FaultyFileSystem()

    init() throws {
        fixture = try PreferencesFixture()
    }

    private var renames: Int { files.calls.count { $0.kind == .rename } }

    @Test func writeOncePerIntervalHoweverOftenAValueChanges() async throws {
        let preferences = fixture.open(in: files, .milliseconds(200))
        let began = ContinuousClock.now
        for number in 1...2_000 {
            try preferences.set("n", .integer(Int128(number)))
            #expect(try preferences.value(of: "n") == .integer(Int128(number)))
        }
        try preferences.flush()
        // One at once, one at the flush, and one for each interval that has passed.
        let intervals = Int((ContinuousClock.now - began) / .milliseconds(200))
        #expect(renames <= intervals + 2)
        #expect(try fixture.open().value(of: "n") == .integer(2_000))
    }

    /// Also during a write, and after one that fails.
    @Test func planTheNextWriteFromTheBeginningOfTheLast() throws {
        var pending = PendingChanges()
        let interval = Duration.seconds(3_600)
        let began = ContinuousClock.now
        let first = pending.add(["k": .integer(1)])
        let again = pending.add(["k": .integer(2)])
        let dueAtOnce = pending.nextWrite(every: interval)
        let second = pending.add(["k": .integer(3)])
        let dueLater = pending.nextWrite(every: interval)
        #expect(first && !again && second)
        #expect(dueAtOnce == nil)
        #expect(try #require(dueLater) >= began + interval)
    }

    @Test func keepAChangeThatCameWhileTheyWereWritten() {
        var pending = PendingChanges()
        _ = pending.add(["a": .integer(1), "b": .integer(1)])
        let taken = pending.changes
        _ = pending.add(["a": .integer(2)])
        pending.wrote(taken)
        #expect(pending.changes == ["a": .integer(2)])
    }

    @Test func mayWaitForEver() throws {
        let preferences = fixture.open(in: files, .seconds(Int64.max))
        for number in 1...3 {
            try preferences.set("n", .integer(Int128(number)))
            try preferences.flush()
        }
        #expect(renames >= 3)
        try preferences.set("n", .integer(4))
    }

    @Test func listAKeyAlsoWhileItIsWritten() throws {
        let preferences = fixture.open(in: files, .seconds(3_600))
        try preferences.set("k", .integer(1))
        try fixture.open().set("other", .integer(2))
        let began = Flag()
        let ended = Flag()
        files.watch(.read) { [path = fixture.path] call in
            guard call.path == path, !began.isSet else { return }
            began.set()
            Thread.detachNewThread {
                try? preferences.flush()
                ended.set()
            }
            // It must wait until the keys are listed. Without the lock it would be done by then.
            for _ in 0..<200 where !ended.isSet { Clock.sleep(microseconds: 1_000) }
        }
        #expect(try preferences.keys(prefix: "") == ["k", "other"])
    }

    @Test func reportWhatIsLostWhenTheyGo() throws {
        let failures = FailureLog { _, _ in }
        var preferences: Preferences? = Preferences(
            .success(fixture.path), .seconds(3_600), failures, in: files)
        try preferences?.set("other", .integer(0))
        try preferences?.flush()
        try preferences?.set("k", .string("a"))
        files.fail([.write], with: .error(ENOSPC))
        preferences = nil
        #expect(failures.lastError?.code == .unavailable)
    }

    @Test func writeByThemselvesInTheEnd() async throws {
        let preferences = fixture.open(in: files, .milliseconds(20))
        try preferences.set("k", .string("a"))
        try preferences.set("k", .string("b"))
        let other = fixture.open()
        while try other.value(of: "k") != .string("b") { try await Task.sleep(for: .milliseconds(2)) }
        #expect(renames >= 1)
    }

    @Test func areWrittenWhenTheyGo() throws {
        var preferences: Preferences? = fixture.open(in: files, .seconds(3_600))
        try preferences?.set("k", .string("a"))
        try preferences?.set("l", .string("b"))
        preferences = nil
        #expect(try fixture.open().value(of: "l") == .string("b"))
    }

    @Test func areWrittenAtTheProcessesExit() async throws {
        let path = fixture.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let preferences = Preferences(path: path, coalescing: .seconds(3_600))
            try preferences.set("k", .string("a"))
            try preferences.flush()
            try preferences.set("k", .string("b"))
            exit(0)
        }
        #expect(try fixture.open().value(of: "k") == .string("b"))
    }

    @Test func holdWhatCouldNotBeWritten() throws {
        let preferences = fixture.open(in: files, .seconds(3_600))
        try preferences.set("other", .integer(0))
        try preferences.flush()
        files.fail([.write], with: .error(ENOSPC))
        try preferences.set("k", .string("a"))
        #expect(try VaultError.code { try preferences.flush() } == .unavailable)
        #expect(try preferences.value(of: "k") == .string("a"))
        #expect(try fixture.open().value(of: "k") == nil)
        try preferences.flush()
        #expect(try fixture.open().value(of: "k") == .string("a"))
    }

    @Test func refuseAtOnceWhatCannotBeWritten() throws {
        let preferences = fixture.open(in: files, .seconds(3_600))
        #expect(try VaultError.code { try preferences.set("k", .string("\u{1}")) } == .invalid)
        try preferences.set("l", .integer(1))
        try preferences.flush()
        #expect(try fixture.open().keys(prefix: "") == ["l"])
    }

    @Test func keepWhatOthersWroteMeanwhile() throws {
        let preferences = fixture.open(in: files, .seconds(3_600))
        try preferences.set("a", .integer(1))
        try preferences.flush()
        try preferences.set("a", .integer(2))
        try fixture.open().set("b", .integer(3))
        #expect(try preferences.keys(prefix: "") == ["a", "b"])
        try preferences.set("b", nil)
        #expect(try preferences.keys(prefix: "") == ["a"])
        try preferences.flush()
        #expect(try fixture.open().keys(prefix: "") == ["a"])
        #expect(try fixture.open().value(of: "a") == .integer(2))
    }
}
