import Foundation
import TestSupport
import Testing
import VaultTesting

@testable import Vault

@Suite("Removing all keys", .temporaryStores)
struct RemoveAllTests {
    @Test(arguments: TestedHome.allCases) func leavesNothingWithThePrefix(_ home: TestedHome) throws {
        let store = try home.store
        #expect(try store.removeAll() == 0)
        let keys = ["a", "a/b", "a/c", "ab", "e\u{301}", "z"]
        #expect(try store.commit(StoreBatch(Dictionary(uniqueKeysWithValues: keys.map { ($0, .integer(1)) }))))
        #expect(try store.removeAll(prefix: "nothing") == 0)
        // A letter and an accent: as bytes, one begins with the other.
        #expect(try store.removeAll(prefix: "e") == 1)
        #expect(try store.removeAll(prefix: "a/") == 2)
        #expect(try store.keys(prefix: "") == ["a", "ab", "z"])
        #expect(try store.removeAll() == 3)
        #expect(try store.keys(prefix: "") == [])
        #expect(try store.contents(prefix: "").isEmpty)
    }

    @Test(arguments: TestedHome.allCases) func ofAScopeLeavesTheOthers(_ home: TestedHome) throws {
        let store = try home.store
        let ann = store.scoped(to: "ann")
        let other = store.scoped(to: "ann/2")
        for scope in [store, ann, other] as [any ValueStore] {
            #expect(try scope.commit(StoreBatch(["k": .integer(1), "l": .integer(2)])))
        }
        #expect(try ann.removeAll(prefix: "k") == 1)
        #expect(try ann.keys(prefix: "") == ["l"])
        #expect(try ann.removeAll() == 1)
        #expect(try store.keys(prefix: "") == ["ann%2F2/k", "ann%2F2/l", "k", "l"])
    }

    @Test func isOneCommit() throws {
        let commits = SeenFailures()
        let store = InterruptedStore(base: try Keychain.standard) {
            commits.handler(VaultError(.busy, ""), "commit")
        }
        for number in 0..<300 { _ = try store.base.commit(StoreBatch(["k\(number)": .integer(1)])) }
        let before = try Keychain.standard.maintenance.information().sequence
        #expect(try store.removeAll() == 300)
        #expect(commits.keys == ["commit"])
        #expect(try Keychain.standard.maintenance.information().sequence == before + 1)
    }

    @Test func leavesAKeyThatIsAddedMeanwhile() throws {
        let base = MemoryStore.standard
        #expect(base.commit(StoreBatch(["a": .integer(1)])))
        let store = InterruptedStore(base: base) { _ = base.commit(StoreBatch(["b": .integer(2), "a": .integer(3)])) }
        try store.removeAll()
        #expect(base.keys(prefix: "") == ["b"])
    }

    @Test func ofASuiteRemovesOtherProgramsKeysButNotThoseThatAreNoNames() throws {
        let preferences = Preferences.standard
        try preferences.set(foreign: ["their key": 1, "two\nlines": 2, "": 3])
        #expect(try preferences.commit(StoreBatch(["ours": .integer(1)])))
        #expect(try preferences.keys(prefix: "") == ["ours", "their key"])
        #expect(try preferences.removeAll() == 2)
        #expect(try preferences.keys(prefix: "") == [])
        let data = try Data(contentsOf: URL(filePath: preferences.path))
        let left = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Int]
        #expect(left == ["two\nlines": 2, "": 3])
    }

    @Test func ofCoalescedPreferencesRemovesWhatIsPending() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("p.plist")
        let preferences = Preferences(path: path, coalescing: .seconds(3_600))
        try Storable<Int>("n", in: .store(preferences)).write(1)
        #expect(try preferences.removeAll() == 1)
        try preferences.flush()
        #expect(try Preferences(path: path).keys(prefix: "") == [])
    }
}

extension Preferences {
    /// Writes a file as another program may.
    fileprivate func set(foreign values: [String: Int]) throws {
        let data = try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
        let file = try URL(filePath: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }
}
