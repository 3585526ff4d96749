import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Listing")
struct ListingTests {
    private let fixture: LogFixture
    private let log: SealedLog

    init() throws {
        fixture = try LogFixture()
        log = try fixture.open()
        try log.make((10..<60).map { ("name \($0)", [UInt8]("\($0)".utf8)) })
        try log.compact()
        try log.set("name 20", "newer")
        try log.remove("name 21")
        try log.set("other", "x")
    }

    private func rest(_ listing: consuming EntryListing) throws -> [Entry] {
        var entries: [Entry] = []
        while let entry = try listing.next() { entries.append(entry) }
        return entries
    }

    @Test func goesOnThroughTheMomentItBeganWith() throws {
        let before = try log.entries()
        var listing = try log.listing()
        let first = try #require(try listing.next())
        for number in 30..<40 { try log.remove("name \(number)") }
        try log.set("name 50", "newer")
        try log.compact()
        try log.set("name 51", "newest")
        #expect([first] + (try rest(listing)) == before)
        #expect(try log.entries().count == before.count - 10)
    }

    @Test func aCopyGoesOnFromWhereTheOriginalWas() throws {
        var listing = try log.listing(prefix: Array("name 2".utf8))
        _ = try listing.next()
        let copy = listing
        let entries = try rest(listing)
        #expect(entries.map(\.name.text) == (22...29).map { "name \($0)" })
        #expect(try rest(copy) == entries)
    }
}
