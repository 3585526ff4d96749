import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("The cache of opened pages")
struct PageCacheTests {
    private func offset(_ number: Int) -> UInt64 { UInt64(number * Limits.pageSize) }

    /// A leaf with one name, which tells its number.
    private func page(_ number: Int) throws -> Page {
        var builder = PageBuilder()
        let entry = try Entry.sample("page \(number)")
        _ = builder.add(entry.name) { $0.entry(entry) }
        return try Page(parsing: builder.encoded(level: 0), at: offset(number))
    }

    /// The least that it keeps is a group of four.
    @Test(arguments: [(0, 4), (4, 4), (63, 32), (64, 64)])
    func keepsThePageReadLastAndNoMoreThanItsLimit(_ limit: Int, _ most: Int) throws {
        var cache = PageCache()
        cache.limit = limit
        for number in 1...1_000 {
            cache.keep(try page(number), at: offset(number))
            let kept = try #require(cache.page(at: offset(number)))
            #expect(try kept.name(0).text == "page \(number)")
        }
        var kept = 0
        for number in 1...1_000 {
            guard let page = cache.page(at: offset(number)) else { continue }
            #expect(try page.name(0).text == "page \(number)")
            kept += 1
        }
        #expect(kept == most)
    }

    @Test func keepsAllPagesWhileThereIsRoom() throws {
        var cache = PageCache()
        for number in 1...1_000 { cache.keep(try page(number), at: offset(number)) }
        for number in 1...1_000 {
            let kept = try #require(cache.page(at: offset(number)))
            #expect(try kept.name(0).text == "page \(number)")
        }
        #expect(cache.page(at: offset(1_001)) == nil)
    }

    /// The bytes of a block that is kept are not read again; those behind the log's end may still change.
    @Test func keepsABlockFromTheSecondValueOnAndNothingBehindTheEnd() throws {
        let store = MemoryStore()
        let size = 40_000
        let block = 16 << 10
        try store.write([UInt8](repeating: 1, count: size), at: 0)
        var cache = PageCache()
        func read(at offset: Int) throws -> [UInt8] {
            var bytes: [UInt8] = [0, 0]
            try bytes.withMutableRawBytes { (bytes) throws(LogError) in
                try cache.copy(from: UInt64(offset), into: bytes, of: store, end: UInt64(size))
            }
            return bytes
        }
        #expect(try read(at: block) == [1, 1])
        for _ in 0..<2 { for offset in [0, 2 * block] { #expect(try read(at: offset) == [1, 1]) } }
        try store.write([UInt8](repeating: 2, count: size), at: 0)
        #expect(try read(at: 100) == [1, 1])
        // It was read once, is across two blocks, or is in the block where the log ends.
        for offset in [block + 100, block - 1, 2 * block, size - 2] { #expect(try read(at: offset) == [2, 2]) }
        #expect(try LogError.code { _ = try read(at: size - 1) } == .damaged)
    }
}
