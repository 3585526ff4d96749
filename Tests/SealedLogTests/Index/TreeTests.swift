import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Trees of sealed pages")
struct TreeTests {
    /// A tree of entries whose names are even numbers.
    private func tree(_ count: Int) throws -> SampleTree {
        try SampleTree(of: (0..<count).map { try .sample(name($0 * 2)) })
    }

    private func name(_ number: Int) -> String {
        let digits = String(number)
        return "entry/" + String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// Returns a view of a tree alone.
    private func view(of tree: SampleTree) throws -> LogView {
        var header = Header.sample(slots: 1)
        header.root = tree.root
        return LogView(store: tree.store, keys: tree.keys, header: header, authenticator: randomAuthenticator())
    }

    @Test(arguments: [(0, 0), (1, 1), (2, 1), (150, 1), (400, 2), (3_000, 2), (20_000, 2)])
    func findWhatIsThereAndNothingElse(_ count: Int, _ levels: Int) throws {
        let tree = try tree(count)
        var view = try view(of: tree)
        if let root = tree.root {
            #expect(Int(try tree.loader.load(root, level: nil).level) + 1 == levels)
        } else {
            #expect(levels == 0)
        }
        for index in stride(from: 0, to: count, by: max(1, count / 500)) {
            #expect(try view.find(tree.entries[index].name) == tree.entries[index])
            #expect(try view.find(.sample(name(index * 2 + 1))) == nil)
        }
        #expect(try view.find(.sample("a")) == nil)
        #expect(try view.find(.sample("z")) == nil)
    }

    @Test(arguments: [0, 1, 150, 400, 3_000, 20_000]) func areScannedInOrderFromAnyName(_ count: Int) throws {
        let tree = try tree(count)
        #expect(try tree.scan() == tree.entries)
        for index in [0, 1, count / 3, count / 2, count - 1, count] where index >= 0 {
            #expect(try tree.scan(from: name(index * 2)) == Array(tree.entries.dropFirst(index)))
            // Between two names.
            #expect(try tree.scan(from: name(index * 2 + 1)) == Array(tree.entries.dropFirst(index + 1)))
        }
        #expect(try tree.scan(from: "a") == tree.entries)
        #expect(try tree.scan(from: "z").isEmpty)
    }

    @Test func ofLongNamesHaveThreeLevels() throws {
        let prefix = String(repeating: "p", count: 1_000)
        let entries = try (1_000..<1_600).map { try Entry.sample(prefix + "\($0)") }
        let tree = try SampleTree(of: entries)
        let root = try #require(tree.root)
        #expect(try tree.loader.load(root, level: nil).level == 2)
        #expect(try tree.scan() == entries)
    }

    @Test func anEntryLargerThanAPageIsRefused() throws {
        var entries = try ["a", "b", "c"].map { try Entry.sample($0) }
        let large = Attribute(key: "key", value: String(repeating: "v", count: Limits.pageSize))
        entries[1].content?.attributes = [large]
        #expect(try LogError.code { _ = try SampleTree(of: entries) } == .invalid)
    }

    @Test func aChangedPageIsNeverRead() throws {
        let tree = try tree(400)
        let size = try tree.store.size()
        let root = try #require(tree.root)
        for offset in stride(from: UInt64(4_096), to: size, by: 251) {
            var byte = try tree.store.bytes(at: offset, count: 1)
            byte[0] ^= 1
            try tree.store.write(byte, at: offset)
            #expect(throws: LogError.self) { _ = try tree.scan() }
            byte[0] ^= 1
            try tree.store.write(byte, at: offset)
        }
        #expect(try tree.scan().count == 400)
        // A page with the nonce of another one.
        let moved = PageReference(offset: root.offset, length: root.length, nonce: randomNonce())
        #expect(throws: LogError.self) { _ = try tree.loader.load(moved, level: nil) }
    }

    @Test(arguments: [["b", "a"], ["a", "a"], ["a", "c", "b", "d"]])
    func namesOutOfOrderAreDamage(_ names: [String]) throws {
        let keys = try randomKeys()
        let store = MemoryStore()
        var page = PageBuilder()
        for name in names {
            let entry = try Entry.sample(name)
            _ = page.add(entry.name) { $0.entry(entry) }
        }
        let nonce = randomNonce()
        let box = try keys.seal(page.encoded(level: 0), for: .page, nonce: nonce)
        try store.write(box, at: 4_096)
        let root = PageReference(offset: 4_096, length: box.count, nonce: nonce)
        let code = try LogError.code { _ = try TreeCursor(root: root, loader: PageLoader(store: store, keys: keys)) }
        #expect(code == .damaged)
    }
}
