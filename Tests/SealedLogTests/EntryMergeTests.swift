import TestSupport
import Testing

@testable import SealedLog

@Suite("Merging entries")
struct EntryMergeTests {
    private func overlay(_ entries: [Entry]) -> Overlay {
        var overlay = Overlay()
        for entry in entries { overlay.insert(entry) }
        return overlay
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
        let keys = try randomKeys()
        let store = MemoryStore()
        var builder = TreeBuilder(keys: keys)
        var sink = StoreSink(store)
        let oldest = try ["a", "b", "c", "d", "e"].map { try Entry.sample($0, modified: 1) }
        for entry in oldest { try builder.add(entry, to: &sink) }
        let root = try builder.finish(to: &sink)
        let loader = PageLoader(store: store, keys: keys)
        let merged = try drain(
            EntryMerge(
                overlays: [overlay(newest), overlay(newer)], trees: [try TreeCursor(root: root, loader: loader)]))
        #expect(merged == [newer[0], newest[0], oldest[2], newest[1], oldest[4]])
        let fromC = try drain(
            EntryMerge(
                overlays: [overlay(newest), overlay(newer)],
                trees: [try TreeCursor(root: root, loader: loader, from: Array("c".utf8))], from: Array("c".utf8)))
        #expect(fromC == [oldest[2], newest[1], oldest[4]])
    }

    @Test(arguments: 0..<20) func isWhatADictionaryWouldHold(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        var expected: [EntryName: Entry] = [:]
        var overlays: [Overlay] = []
        for _ in 0..<4 {
            var overlay = Overlay()
            for _ in 0..<30 {
                let name = try EntryName.sample("name \(Int.random(in: 0..<60, using: &generator))")
                let entry = Entry.random(name, &generator)
                overlay.insert(entry)
                expected[name] = entry
            }
            overlays.insert(overlay, at: 0)
        }
        let merged = try drain(EntryMerge(overlays: overlays, trees: []))
        #expect(merged == expected.values.sorted { $0.name < $1.name })
    }

    @Test func anOverlayKeepsTheLastEntryOfAName() throws {
        var overlay = Overlay()
        for number in (0..<500).reversed() { overlay.insert(try .sample("name \(number % 100)")) }
        #expect(overlay.count == 100)
        let last = try Entry.sample("name 7")
        overlay.insert(last)
        #expect(overlay.find(last.name) == last)
        #expect(overlay.count == 100)
        #expect(overlay.find(try .sample("name 100")) == nil)
        let names = (0..<overlay.count).map { overlay[$0].name }
        #expect(names == names.sorted())
        overlay.removeAll()
        #expect(overlay.isEmpty && overlay.find(last.name) == nil)
    }
}
