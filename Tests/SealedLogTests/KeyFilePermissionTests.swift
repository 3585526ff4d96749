import Foundation
import TestSupport
import Testing

@testable import SealedLog

@Suite("Who may read a key file")
struct KeyFilePermissionTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("key")
        try overwrite(path, Array("a passphrase".utf8))
    }

    private func read(below secretFolders: [String] = []) throws(LogError) -> KeyFile {
        try KeyFile.read(path, secretFolders: secretFolders, in: PosixFileSystem())
    }

    @Test func oneThatOthersCanReadOrWriteIsRefused() throws {
        for mode in [0o640, 0o620, 0o604, 0o602, 0o644, 0o666, 0o777, 0o610, 0o601] {
            try setMode(path, mode)
            #expect(try LogError.code { _ = try read() } == .keyExposed)
        }
        for mode in [0o600, 0o400, 0o700] {
            try setMode(path, mode)
            #expect(try LogError.code { _ = try read() } == nil)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make root's files"))
    func rootsFilesBelowAFolderOfSecretsMayBeReadableNeverWritable() throws {
        for (mode, expected) in [(0o440, nil), (0o444, nil), (0o460, .keyExposed), (0o446, .keyExposed)]
            as [(Int, LogError.Code?)]
        {
            try setMode(path, mode)
            #expect(try LogError.code { _ = try read(below: [folder.path]) } == expected)
            #expect(try LogError.code { _ = try read(below: [folder.path + "/"]) } == expected)
            #expect(try LogError.code { _ = try read() } == .keyExposed)
            // A folder that only begins with the same letters.
            #expect(try LogError.code { _ = try read(below: [String(folder.path.dropLast())]) } == .keyExposed)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func otherPeoplesFilesBelowAFolderOfSecretsAreRefused() throws {
        try setMode(path, 0o444)
        try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path)
        #expect(try LogError.code { _ = try read(below: [folder.path]) } == .keyExposed)
    }

    @Test func aLinkIntoAFolderOfSecretsIsJudgedByWhereItLeads() throws {
        try setMode(path, 0o444)
        let secrets = folder.file("secrets")
        try FileManager.default.createDirectory(atPath: secrets, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: secrets + "/key", withDestinationPath: path)
        let code = try LogError.code {
            _ = try KeyFile.read(secrets + "/key", secretFolders: [secrets], in: PosixFileSystem())
        }
        #expect(code == .keyExposed)
    }

    @Test func whatIsNoFileCannotBeRead() throws {
        let files = PosixFileSystem()
        #expect(try LogError.code { _ = try KeyFile.read(folder.path, secretFolders: [], in: files) } == .keyUnreadable)
        let missing = folder.file("none")
        #expect(try LogError.code { _ = try KeyFile.read(missing, secretFolders: [], in: files) } == .keyMissing)
        #expect(
            try LogError.code { _ = try KeyFile.read("/dev/null", secretFolders: [], in: files) } == .keyUnreadable)
        let pipe = folder.file("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        #expect(try LogError.code { _ = try KeyFile.read(pipe, secretFolders: [], in: files) } == .keyUnreadable)
    }
}
