import TestSupport
import Testing

@testable import SealedFormat

@Suite("Encoded items by name")
struct NamedCellsTests {
    private struct Item: Equatable {
        let name: EntryName
        let number: Int
    }

    private func append(_ item: Item, to cells: inout NamedCells) {
        cells.append {
            $0.name(item.name)
            $0.varint(item.number)
        }
    }

    private func item(_ number: Int, of cells: NamedCells) -> Item {
        var reader = cells.reader(number)
        return reader.own { (reader) throws(Malformed) in
            Item(name: try reader.name(), number: Int(try reader.varint()))
        }
    }

    private func expect(_ cells: NamedCells, toHold items: [Item]) {
        #expect((0..<cells.count).map { item($0, of: cells) } == items)
        var newest: [EntryName: Int] = [:]
        for (index, item) in items.enumerated() { newest[item.name] = index }
        #expect(cells.nameCount == newest.count)
        for (name, index) in newest { #expect(name.bytes.withUnsafeBytes(cells.newest) == index) }
        let names = newest.keys.sorted()
        #expect(cells.ordered().map { newest[item(Int($0), of: cells).name] } == names.map { newest[$0] })
        #expect(cells.ordered().map { item(Int($0), of: cells).name } == names)
        let start = Array("name 3".utf8)
        #expect(
            cells.ordered(from: start).map { item(Int($0), of: cells).name }
                == names.filter { !$0.bytes.lexicographicallyPrecedes(start) })
        #expect(Array("name".utf8).withUnsafeBytes(cells.newest) == nil)
    }

    @Test(arguments: 0..<20) func areFoundOrderedAndRemovedAsAListWould(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        var cells = NamedCells()
        var items: [Item] = []
        expect(cells, toHold: items)
        for _ in 0..<6 {
            for _ in 0..<Int.random(in: 0..<80, using: &generator) {
                let name = try EntryName.sample("name \(Int.random(in: 0..<120, using: &generator))")
                let item = Item(name: name, number: Int.random(in: 0..<1_000_000, using: &generator))
                append(item, to: &cells)
                items.append(item)
            }
            expect(cells, toHold: items)
            let count = Int.random(in: 0...items.count, using: &generator)
            cells.removeItems(from: count)
            items.removeSubrange(count...)
            expect(cells, toHold: items)
        }
    }
}
