import TestSupport
import Testing

@testable import PlainStores

@Suite("Concurrency of preferences", .serialized)
struct PreferencesConcurrencyTests {
    private let fixture: PreferencesFixture

    init() throws {
        fixture = try PreferencesFixture()
    }

    /// Two stores on one file know as little of each other as two processes.
    @Test func storesOnOneFileLoseNoWriteOfEachOther() throws {
        let fixture = fixture
        try onThreads(8) { number in
            let preferences = fixture.open()
            for count in 0..<25 { try preferences.set("\(number)/\(count)", .integer(Int128(count))) }
        }
        #expect(try fixture.open().keys(prefix: "").count == 200)
    }

    // The thread sanitizer looks for races, which the first rounds have, and makes each round some fifty times slower.
    #if THREAD_SANITIZER
        private static let rounds = 100
    #else
        private static let rounds = 1_000
    #endif

    @Test(arguments: [nil, Duration.milliseconds(5)])
    func eightThreadsCountTogether(_ interval: Duration?) throws {
        let preferences = fixture.open(interval)
        let counter = Storable<Int>("n", in: .store(preferences)).defaulting(to: 0)
        try onThreads(8) { _ in
            for _ in 0..<Self.rounds { try counter.update { $0 += 1 } }
        }
        #expect(try counter.read() == 8 * Self.rounds)
        try preferences.flush()
        #expect(try fixture.open().value(of: "n") == .integer(Int128(8 * Self.rounds)))
    }
}
