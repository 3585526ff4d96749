import Foundation
import TestSupport
import Testing

@testable import PlainStores

@Suite("Preferences when the disk fails")
struct PreferencesFaultTests {
    private let fixture: PreferencesFixture
    private let files = FaultyFileSystem()
    private let preferences: Preferences

    init() throws {
        fixture = try PreferencesFixture()
        preferences = fixture.open(in: files)
        try preferences.set("k", .string("old"))
    }

    @Test(arguments: [FileCall.open, .write, .synchronize, .rename], [ENOSPC, EFBIG])
    func holdTheOldStateAndLeaveNothingBehind(_ call: FileCall, _ number: Int32) throws {
        let before = try contents(fixture.path)
        // The failing call is the one that creates the new file, not one that reads the present file.
        files.fail([call], after: call == .open ? 2 : 0, with: call == .write ? .short(10, number) : .error(number))
        let error = #expect(throws: VaultError.self) { try preferences.set("k", .string("canary")) }
        #expect(files.failures == 1)
        #expect(error?.code == .unavailable)
        #expect(error?.systemError == number)
        #expect(error?.message.contains("canary") == false)
        #expect(try contents(fixture.path) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == ["suite.plist"])
        try preferences.set("k", .string("new"))
        #expect(try fixture.open().value(of: "k") == .string("new"))
    }

    @Test func sayThatTheOutcomeIsUnknownIfTheFolderIsNotFlushed() throws {
        files.fail([.synchronize], after: 1, with: .error(EIO))
        #expect(try VaultError.code { try preferences.set("k", .string("new")) } == .outcomeUnknown)
        #expect(files.failures == 1)
    }

    @Test func flushAWriteOfUnknownOutcomeWhenItIsRepeated() throws {
        files.fail([.synchronize], after: 1, with: .error(EIO))
        #expect(try VaultError.code { try preferences.set("k", .string("new")) } == .outcomeUnknown)
        files.fail([.synchronize], with: .error(EIO))
        #expect(try VaultError.code { try preferences.set("k", .string("new")) } == .outcomeUnknown)
        files.forgetCalls()
        try preferences.set("k", .string("new"))
        let flushed = files.calls.filter { $0.kind == .synchronize }.map(\.path)
        #expect(flushed == [fixture.path, fixture.folder.path])
    }

    @Test func reportReadsThatFailAndDoNotTakeThemForNoValue() throws {
        files.fail([.status], times: 2, with: .error(EIO))
        #expect(try VaultError.code { _ = try preferences.value(of: "k") } == .unavailable)
        var key = Storable<String>("k", in: .store(preferences))
        #expect(key.value == nil)
        #expect(preferences.lastError?.code == .unavailable)
        #expect(key.value == "old")
        files.fail([.write], with: .error(ENOSPC))
        key.value = "canary"
        #expect(preferences.lastError?.systemError == ENOSPC)
        #expect(key.value == "old")
    }

    /// Reading a file must not look like a change of it.
    @MainActor @Test func anObserverReadsWhatIsDamagedOnce() async throws {
        let observed = Observed(Storable<String>("k", in: .store(preferences)))
        try overwrite(fixture.path, "garbage".utf8)
        while observed.error?.code != .damaged { try await Task.sleep(for: .milliseconds(5)) }
        // On a busy machine the notice of the change itself may take a while.
        for _ in 0..<50 {
            files.forgetCalls()
            try await Task.sleep(for: .milliseconds(200))
            if files.calls.isEmpty { break }
        }
        #expect(files.calls.isEmpty)
        withExtendedLifetime(observed) {}
    }
}
