import LinuxSystem
import TestSupport
import Testing
import Vault

@testable import SealedFormat
@testable import SealedLog
@testable import VaultShared

@Suite("The clock of a server", .needsServer)
struct ServerClockTests {
    /// From a minute on, in both directions; also a server that says anything.
    @Test(arguments: [(0, false), (60_000, false), (60_001, true), (-60_000, false), (-60_001, true), (1 << 40, true)])
    func isToldIfItDiffers(_ ahead: Int64, _ isTold: Bool) {
        let clock = ServerClock()
        #expect(clock.difference == nil && clock.time == nil)
        clock.note(1_800_000_000_000 - ahead, at: 1_800_000_000_000)
        #expect(clock.difference == ahead)
        #expect(clock.takeNotices() == (isTold ? [.clockDiffers(milliseconds: ahead)] : []))
        clock.note(1_800_000_000_000 - ahead - 5, at: 1_800_000_000_000)
        #expect(clock.takeNotices() == [] || !isTold, "once is enough")
    }

    @Test(arguments: [.min, -1, 0, 1, .max - 1, .max] as [Int64]) func mayBeAnyNumber(_ time: Int64) {
        for now in [0, 1_800_000_000_000, Int64.max] {
            let clock = ServerClock()
            clock.note(time, at: now)
            #expect(clock.difference == now - max(time, 0))
            _ = clock.time
        }
    }

    /// Of two clocks the one counts by which less is too old.
    @Test func keepsWhatIsTooOldByAnotherClockAlone() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "1")
        let storeLocation = try fixture.storeLocation()
        let store = try storeLocation.open(.fresh)
        for years in [-5, 0, 5] {
            let now = Int64(Clock.milliseconds)
            let server = now + Int64(years) * 31_557_600_000
            storeLocation.serverClock.note(server, at: now)
            #expect(abs(Int64(store.retentionTime) - min(server, now)) < 10_000)
        }
    }

    @Test func isThatOfTheServer() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "1")
        for look in [
            { _ = try $0.currentHead() }, { _ = try $0.open(.fresh) },
            { storeLocation in
                let lock = try storeLocation.open(.fresh).locked(.exclusive, until: Deadline(after: .seconds(1)))
                _ = consume lock
            },
        ] as [(PostgresLocation) throws -> Void] {
            let storeLocation = try fixture.storeLocation()
            try look(storeLocation)
            #expect(abs(try #require(storeLocation.report?.clockDifference)) < 5_000)
            #expect(storeLocation.takeNotices() == [])
        }
    }

    @Test(
        arguments: [
            (61_000, "1 minute ahead of"), (-7_200_000, "2 hours behind"), (157_788_000_000, "5 years ahead of"),
        ]
            as [(Int64, String)])
    func isToldInWords(_ milliseconds: Int64, _ words: String) {
        #expect(ClockDifference.words(milliseconds) == words)
    }
}
