import Foundation
import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("A file that is believed")
struct TrustworthyFileTests {
    private let folder: TemporaryFolder
    private let path: String
    private let files = PosixFileSystem()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("believed")
        try overwrite(path, Array("text".utf8))
        try setMode(path, 0o600)
    }

    /// Returns why the file is not believed; nil if it is.
    private func distrust() throws -> Distrust? { distrust(of: try files.open(path, .read)) }

    private func distrust(of file: consuming FileDescriptor) -> Distrust? {
        do throws(Distrust) { _ = try TrustworthyFile(file, in: files) } catch { return error }
        return nil
    }

    private func count() throws -> Int? { try WholeFile(path, in: files).readTrustworthy(upTo: 4)?.bytes.count }

    @Test(arguments: [
        (0o600, true), (0o400, true), (0o644, true), (0o755, true), (0o610, true), (0o620, false), (0o602, false),
        (0o666, false), (0o777, false),
    ])
    func isOneThatNobodyElseCanWrite(mode: Int, isBelieved: Bool) throws {
        try setMode(path, mode)
        let reason = isBelieved ? Distrust?.none : .writableByOthers
        #expect(try distrust() == reason)
        #expect((try? count()) == (reason == nil ? 4 : nil))
    }

    /// Of root's and another user's, root believes its own alone.
    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"), arguments: [0, 1, 65_534] as [uid_t])
    func ofAnyoneButRootIsNoneToRoot(owner: uid_t) throws {
        try #require(chown(path, owner, 65_533) == 0)
        #expect(try distrust() == (owner == 0 ? nil : .anotherOwner))
        #expect(Distrust.anotherOwner.reason(of: path).hasPrefix("\(path) belongs to another user, and root"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func ofRootOrOneselfIsOneToAUser() async throws {
        try setMode(path, 0o644)
        try setMode(folder.path, 0o755)
        for (owner, isBelieved) in [(0, true), (65_533, false), (65_534, true), (65_535, false)] as [(uid_t, Bool)] {
            try #require(chown(path, owner, 65_532) == 0)
            await #expect(processExitsWith: .success) { [path = path as String, isBelieved = isBelieved as Bool] in
                guard seteuid(65_534) == 0 else { exit(2) }
                let count = (try? WholeFile(path, in: PosixFileSystem()).readTrustworthy(upTo: 4)?.bytes.count) ?? nil
                let isRight = (count == 4) == isBelieved
                // At the end the address sanitizer looks for leaks, which takes root's rights.
                guard seteuid(0) == 0, isRight else { exit(3) }
            }
        }
    }

    /// The path may lead elsewhere by now.
    @Test(.enabled(if: geteuid() == 0, "only root can give a file away")) func isTheOneThatWasOpened() throws {
        try #require(chown(path, 65_534, 65_534) == 0)
        let file = try files.open(path, .read)
        try FileManager.default.removeItem(atPath: path)
        try overwrite(path, Array("root's".utf8))
        #expect(distrust(of: file) == .anotherOwner)
        #expect(try distrust() == nil)
    }

    @Test func thatIsMissingOrNoFileIsToldApart() throws {
        let none = try WholeFile(folder.file("none"), in: files).readTrustworthy(upTo: 4)?.bytes
        #expect(none == nil)
        #expect(throws: Distrust.system(SystemError(EFBIG, "read"))) {
            _ = try WholeFile(path, in: files).readTrustworthy(upTo: 3)
        }
        #expect(throws: Distrust.system(SystemError(EISDIR, "read"))) {
            _ = try WholeFile(folder.path, in: files).readTrustworthy(upTo: 4)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
    func rootCreatesNoneInAFolderOfAnotherUser() throws {
        let theirs = folder.file("theirs")
        try FileManager.default.createDirectory(atPath: theirs, withIntermediateDirectories: false)
        #expect(files.partOfAnotherUser(above: "\(theirs)/a/b") == nil)
        try #require(chown(theirs, 65_534, 65_534) == 0)
        for below in ["", "/a", "/a/b"] { #expect(files.partOfAnotherUser(above: theirs + below) == theirs) }
        try FileManager.default.createDirectory(atPath: "\(theirs)/a", withIntermediateDirectories: false)
        #expect(files.partOfAnotherUser(above: "\(theirs)/a/b") == nil, "it is root's")
        #expect(files.partOfAnotherUser(above: "/dev/null/a") == nil)
        // The folder that a link leads to is root's, but a user has chosen it.
        let link = folder.file("link")
        try #require(symlink("\(theirs)/a", link) == 0)
        for (owner, found) in [(0, nil), (65_534, link)] as [(uid_t, String?)] {
            try #require(lchown(link, owner, owner) == 0)
            for below in ["", "/b"] { #expect(files.partOfAnotherUser(above: link + below) == found) }
        }
    }

    /// Another user's link decides where root writes, in the last part of a path as in those above it.
    @Test(.enabled(if: geteuid() == 0, "only root can give a link away"), arguments: [0, 1, 65_534] as [uid_t])
    func aLinkOfAnotherUserIsFoundWhereverItIs(owner: uid_t) throws {
        let folder = try TemporaryFolder()
        let root = resolvedPath(folder.file("."))
        try #require(mkdir(root + "/real", 0o755) == 0)
        for (link, target) in [("folder", "real"), ("file", "real/x"), ("chain", "file"), ("absolute", root + "/real")]
        {
            try #require(symlink(target, "\(root)/\(link)") == 0 && lchown("\(root)/\(link)", owner, owner) == 0)
        }
        try #require(symlink("folder", root + "/own") == 0)
        for path in ["folder", "folder/x", "file", "chain", "absolute/x/y", "own/x", "./real/../folder/x"] {
            let link = linkOfAnotherUser(in: "\(root)/\(path)")
            #expect((link != nil) == (owner != 0), "\(path)")
            if path == "own/x" { #expect(link == (owner == 0 ? nil : root + "/folder")) }
        }
        for path in ["real/x", "real/y/z", "none", "..", ""] {
            #expect(linkOfAnotherUser(in: "\(root)/\(path)") == nil)
        }
    }
}
