import LinuxSystem
import Sealing
import TestSupport
import Testing
import Vault

@testable import SealedFormat
@testable import SealedLog
@testable import VaultShared

/// A machine whose clock is wrong has changed a vault without the server, and merges that when it is back.
@Suite("Changes that waited, by a wrong clock", .needsServer, .timeLimit(.minutes(10)))
struct OfflineClockTests {
    private static let day: UInt64 = 86_400_000

    /// By how many days it is ahead, and whether what it has set counts: it was set before what others have set.
    @Test(arguments: [(1_826, false), (2, false), (0, true)])
    func doNotBeatWhatOthersSetLater(_ days: UInt64, counts: Bool) throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "first")
        _ = try fixture.open().maintenance.verify()
        try fixture.openOffline().set("b", to: "offline")
        let pending = try #require(try fixture.storeLocation().pending())
        let (storeLocation, log) = try fixture.openLog()
        let copy = try pending.open(.fresh)
        var view = try LogView.whole(copy, log.keys)
        let now = Clock.milliseconds + days * OfflineClockTests.day
        try set("a", "offline", on: &view, at: now + 3_600_000)
        try fixture.open(machine: "other").set("a", to: "later")
        _ = try storeLocation.currentHead()
        #expect(storeLocation.serverClock.time != nil)
        let report = try log.merge(
            view, isPinned: true, .none, [], nil, timeout: .seconds(5), at: now + 3_600_000)
        #expect(report.conflicts == ["a"] && report.changed.contains("b"))
        let found = try log.open("a")?.unsafeArray()
        #expect(found == Array((counts ? "offline" : "later").utf8))
        let name = try #require(EntryName("a"))
        let entry = try #require(try log.entry(name))
        #expect(entry.earlier.count == 2, "both values are kept")
    }

    private func set(_ name: String, _ text: String, on view: inout LogView, at now: UInt64) throws {
        var nonces = NonceSource()
        let value = try SealedValue(
            SecretBytes(copyOf: Array(text.utf8)), kind: 1, nonce: nonces.next(), under: view.keys)
        let change = Change(try #require(EntryName(name)), .anything, .set(value, attributes: nil))
        var batch = TransactionBatch(totals: try view.currentTotals())
        let circumstances = Circumstances(
            now: now, sequence: view.head.sequence + 1, history: view.header.history)
        _ = try batch.add(ChangeList([change]), circumstances) { (name) throws(LogError) in try view.find(name) }
        let plan = try #require(try view.shortPlan(batch))
        try view.store.write(plan.bytes, at: plan.record.offset)
        view.apply(plan.record)
    }
}
