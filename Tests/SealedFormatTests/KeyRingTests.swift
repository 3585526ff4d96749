import Sealing
import Testing

@testable import SealedFormat

@Suite("The subkeys of a vault")
struct KeyRingTests {
    @Test func areAllThatIsKeptOfTheDataKey() throws {
        var former: [UnsafeMutableRawBufferPointer] = []
        let keys = try KeyRing { dataKey, scratch in
            for buffer in [dataKey, scratch] { RandomBytes.fill(buffer) }
            former = [dataKey]
            return nil
        }
        // The memory is theirs, and lives as long as they do.
        withExtendedLifetime(keys) {
            #expect(former.map(\.count) == [32])
            #expect(former.allSatisfy { buffer in buffer.allSatisfy { $0 == 0 } })
        }
    }
}
