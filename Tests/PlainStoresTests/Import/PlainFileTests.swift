import Foundation
import TestSupport
import Testing

@testable import PlainStores

@Suite("A plain file")
struct PlainFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("account.json")
        try overwrite(path, #"{"token": "canary"}"#.utf8)
    }

    @Test func isReadAndRemoved() throws {
        guard let file = try PlainFile(path: path) else {
            Issue.record("no file")
            return
        }
        #expect(file.values == ["token": .string("canary")])
        try file.remove()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try PlainFile(path: path) == nil)
    }

    @Test func isRemovedItselfAndNotTheLinkToIt() throws {
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "account.json")
        try PlainFile(path: link)?.remove()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try PlainFile(path: link) == nil)
    }

    @Test func thatSomeoneElseHasRemovedIsRemoved() throws {
        let files = FaultyFileSystem()
        let file = try PlainFile(path: path, in: files)
        try FileManager.default.removeItem(atPath: path)
        try file?.remove()
        // Also if it goes at the last moment.
        try overwrite(path, "{}".utf8)
        let again = try PlainFile(path: path, in: files)
        let path = path
        files.watch(.remove) { _ in try? FileManager.default.removeItem(atPath: path) }
        try again?.remove()
    }

    @Test func thatWasChangedStays() throws {
        let file = try PlainFile(path: path)
        try overwrite(path, "{}".utf8)
        #expect(try VaultError.code { try file?.remove() } == .busy)
        #expect(try contents(path) == Array("{}".utf8))
    }
}
