import Foundation
import TestSupport
import Testing

@testable import PlainStores

/// A crash loses what coalescing preferences hold back: it must not be the only copy.
@Suite("Values that arrive in coalescing preferences")
struct HeldBackTests {
    private let fixture: PreferencesFixture
    private let new: Preferences

    init() throws {
        fixture = try PreferencesFixture()
        new = fixture.open(.seconds(3600))
        try new.set("other", .integer(1))
        try new.flush()
    }

    @Test func areOnTheDiskBeforeTheOldStoreLosesThem() throws {
        let old = Preferences(path: fixture.folder.file("old.plist"))
        try old.set("k", .string("v"))
        #expect(try Storable<String>("k", in: .store(new), movedFrom: .store(old)).read() == "v")
        #expect(try old.value(of: "k") == nil)
        #expect(try fixture.open().value(of: "k") == .string("v"))
    }

    @Test func areOnTheDiskAlsoInAScope() throws {
        let old = MemoryStore()
        _ = old.commit(StoreBatch(["k": .string("v")]))
        let key = Storable<String>("k", in: .store(new.scoped(to: "user")), movedFrom: .store(old))
        #expect(try key.read() == "v")
        #expect(try fixture.open().scoped(to: "user").value(of: "k") == .string("v"))
    }

    @Test func areOnTheDiskBeforeAPlainFileGoes() throws {
        let path = fixture.folder.file("settings.json")
        try overwrite(path, #"{"theme": "dark"}"#.utf8)
        try PlainFile.importValues(from: path) { _ in .store(new) }
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try fixture.open().value(of: "theme") == .string("dark"))
    }

    @Test func stayInTheOldStoreIfTheDiskIsFull() throws {
        let files = FaultyFileSystem()
        let new = fixture.open(in: files, .seconds(3600))
        let old = MemoryStore()
        _ = old.commit(StoreBatch(["k": .string("v")]))
        files.fail([.write], with: .error(ENOSPC))
        let key = Storable<String>("k", in: .store(new), movedFrom: .store(old))
        #expect(try VaultError.code { _ = try key.read() } == .unavailable)
        #expect(old.value(of: "k") == .string("v"))
        #expect(try key.read() == "v")
        #expect(old.value(of: "k") == nil)
    }
}
