import Testing
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

@Suite("Concurrency of the access log", .serialized)
struct AccessLogConcurrencyTests {
    @Test(arguments: [2_048, 8 << 20]) func writersLoseNoRecord(_ size: UInt64) throws {
        let fixture = try AccessLogFixture()
        try onThreads(8) { thread in
            var log = try fixture.log()
            log.fileSize = size
            for number in 0..<25 {
                try fixture.append("\(thread) \(number)", to: log)
                #expect(try fixture.report(log).damage == [])
            }
        }
        let report = try fixture.report()
        #expect(report.records.last?.number == 200)
        let all = Set((0..<8).flatMap { thread in (0..<25).map { "\(thread) \($0)" } })
        #expect(size == 2_048 ? all.isSuperset(of: report.names) : Set(report.names) == all)
    }
}
