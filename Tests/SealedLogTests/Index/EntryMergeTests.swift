import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Merging entries")
struct EntryMergeTests {
    private func recent(_ entries: [Entry]) -> RecentEntries {
        var recent = RecentEntries()
        for entry in entries { recent.insert(entry) }
        return recent
    }

    private func drain(_ merge: EntryMerge) throws -> [Entry] {
        var merge = merge
        var entries: [Entry] = []
        while let entry = try merge.next() { entries.append(entry) }
        return entries
    }

    @Test func theNewerSourceDecidesAndTombstonesAreEntries() throws {
        let newest = [try Entry.sample("b"), try Entry.tombstone("d")]
        let newer = [try Entry.sample("a"), try Entry.tombstone("b"), try Entry.sample("d")]
        let oldest = try ["a", "b", "c", "d", "e"].map { try Entry.sample($0, modified: 1) }
        let tree = try SampleTree(of: oldest)
        let merged = try drain(
            EntryMerge(recent: [recent(newest).cursor(), recent(newer).cursor()], trees: [try tree.cursor()]))
        #expect(merged == [newer[0], newest[0], oldest[2], newest[1], oldest[4]])
        let fromC = try drain(
            EntryMerge(
                recent: [recent(newest), recent(newer)].map { $0.cursor(from: Array("c".utf8)) },
                trees: [try tree.cursor(from: "c")]))
        #expect(fromC == [oldest[2], newest[1], oldest[4]])
    }

    @Test(arguments: 0..<20) func isWhatADictionaryWouldHold(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        var expected: [EntryName: Entry] = [:]
        var newerFirst: [RecentEntries] = []
        for _ in 0..<4 {
            var recent = RecentEntries()
            for _ in 0..<30 {
                let name = try EntryName.sample("name \(Int.random(in: 0..<60, using: &generator))")
                let entry = Entry.random(name, &generator)
                recent.insert(entry)
                expected[name] = entry
            }
            newerFirst.insert(recent, at: 0)
        }
        let merged = try drain(EntryMerge(recent: newerFirst.map { $0.cursor() }, trees: []))
        #expect(merged == expected.values.sorted { $0.name < $1.name })
    }

    @Test func recentEntriesKeepTheLastEntryOfAName() throws {
        var recent = RecentEntries()
        for number in (0..<500).reversed() { recent.insert(try .sample("name \(number % 100)")) }
        #expect(recent.count == 100)
        let last = try Entry.sample("name 7")
        recent.insert(last)
        #expect(recent.find(last.name) == last)
        #expect(recent.count == 100)
        #expect(recent.find(try .sample("name 100")) == nil)
        let names = try drain(EntryMerge(recent: [recent.cursor()], trees: [])).map(\.name)
        #expect(names.count == 100 && names == names.sorted())
        recent = RecentEntries()
        #expect(recent.count == 0 && recent.find(last.name) == nil)
    }
}
