import Foundation
import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("A file that is read and replaced whole")
struct WholeFileTests {
    private let folder: TemporaryFolder
    private let path: String
    private let file: WholeFile

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("whole")
        file = WholeFile(path, in: PosixFileSystem())
    }

    private func replace(
        _ text: String, replacing: Bool = true, in fileSystem: any FileSystem = PosixFileSystem()
    ) throws {
        _ = try Array(text.utf8).withRawBytes { (bytes) throws(SystemError) in
            try WholeFile(path, in: fileSystem).replace(with: bytes, replacing: replacing)
        }
    }

    private func contents() throws -> String? {
        guard let contents = try file.read(upTo: 1 << 20) else { return nil }
        return String(decoding: contents.bytes, as: UTF8.self)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }

    @Test func isNilWhereThereIsNone() throws {
        #expect(try contents() == nil)
        #expect(try file.status(withTimes: false) == nil)
    }

    @Test func isReplacedPrivatelyAndLeavesNothingBesideIt() throws {
        try replace("first")
        try replace("second")
        #expect(try contents() == "second")
        #expect(try file.status(withTimes: false)?.mode == 0o600)
        #expect(try names() == ["whole"])
    }

    @Test func thatMayNotBeReplacedIsLeftAlone() throws {
        try replace("first")
        let error = try #require(throws: SystemError.self) { try replace("second", replacing: false) }
        #expect(error.isExisting)
        #expect(try contents() == "first")
        #expect(try names() == ["whole"])
    }

    @Test func replacesWhatACrashLeft() throws {
        try overwrite(unpublishedPath(for: path), Array("left by a crash".utf8))
        try replace("whole")
        #expect(try contents() == "whole")
        #expect(try names() == ["whole"])
    }

    @Test(arguments: [FileCall.write, .synchronize, .rename])
    func isTheOldOneAfterACallThatFails(call: FileCall) throws {
        try replace("old")
        let files = FaultyFileSystem()
        files.fail([call], with: .error(EIO))
        #expect(throws: SystemError.self) { try replace("new", in: files) }
        #expect(try contents() == "old")
        #expect(try names() == ["whole"])
    }

    @Test func thatIsNoFileIsNamedByItsKind() throws {
        func kind() throws -> String? {
            try #require(throws: SystemError.self) { _ = try file.read(upTo: 1) }.kindOfNoFile
        }
        #expect(mkdir(path, 0o700) == 0)
        #expect(try kind() == "a folder")
        #expect(rmdir(path) == 0 && mkfifo(path, 0o600) == 0)
        #expect(try kind() == "a named pipe, a socket or a device")
    }

    @Test func thatIsLargerThanTheLimitIsNotRead() throws {
        try replace("12345")
        #expect(try file.read(upTo: 5)?.bytes.count == 5)
        let error = try #require(throws: SystemError.self) { _ = try file.read(upTo: 4) }
        #expect(error.isTooLarge)
    }

    @Test func isRemovedOnceAndForAll() throws {
        try replace("gone")
        try file.remove()
        try file.remove()
        #expect(try names().isEmpty)
        try file.synchronize()
    }
}
