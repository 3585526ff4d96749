import Sealing
import TestSupport
import Testing

@testable import SealedLog

@Suite("Concurrency of reading", .serialized)
struct ReadingConcurrencyTests {
    private let fixture: LogFixture

    init() throws {
        fixture = try LogFixture()
    }

    @Test func readersNeverSeeAnErrorOrATornValueWhileOthersWriteAndCompact() throws {
        let writers = [try fixture.open(), try fixture.open()]
        let readers = [writers[0], try fixture.open(), try fixture.open()]
        @Sendable func value(_ number: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(number % 251), count: 20 + number % 5_000)
        }
        for name in 0..<4 { try writers[0].set("name \(name)", value(0)) }
        let isDone = Flag()
        try onThreads(5) { [fixture] thread in
            if thread < 2 {
                defer { isDone.set() }
                for number in 0..<250 {
                    try writers[thread].set("name \(number % 4)", value(number))
                    if number % 50 == 25 { try writers[thread].compact() }
                }
                return
            }
            var rounds = 0
            while !isDone.isSet || rounds < 20 {
                rounds += 1
                let reader = rounds % 10 == 0 ? try fixture.open() : readers[thread - 2]
                let bytes = try #require(try reader.get("name \(rounds % 4)"))
                #expect(bytes.count >= 20 && bytes.allSatisfy { $0 == bytes[0] })
                #expect((bytes.count - 20) % 251 == Int(bytes[0]))
                #expect(try reader.entries().count == 4)
            }
        }
        #expect(try fixture.open().verify().entries == 4)
    }

    @Test func aVerificationDuringWritesFindsNoDamage() throws {
        let writer = try fixture.open()
        let other = try fixture.open()
        try onThreads(2) { thread in
            for number in 0..<100 {
                if thread == 0 {
                    try writer.set("name \(number % 10)", RandomBytes.array(2_000))
                    if number % 30 == 7 { try writer.compact() }
                } else if number % 4 == 0 {
                    try other.verify()
                }
            }
        }
        #expect(try other.verify().entries == 10)
    }
}
