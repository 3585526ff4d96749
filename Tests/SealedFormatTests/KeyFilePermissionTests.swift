import Foundation
import LinuxSystem
import TestSupport
import Testing

@testable import SealedFormat

@Suite("Who may read a key file")
struct KeyFilePermissionTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("key")
        try overwrite(path, Array("a passphrase".utf8))
    }

    /// Reads the file as if it were on a disk, whatever the folder is really on.
    private func read(
        below secretFolders: [String] = [], accepting: Bool = false, on volume: Volume = Volume()
    ) throws(LogError) -> KeyFile {
        try KeyFile.read(
            path, secretFolders: secretFolders, acceptsShared: accepting, in: FaultyFileSystem(volume: volume))
    }

    @Test func oneThatOthersCanReadOrWriteIsRefused() throws {
        for mode in [0o640, 0o620, 0o604, 0o602, 0o644, 0o666, 0o777, 0o610, 0o601] {
            try setMode(path, mode)
            let isForReading = geteuid() == 0 && mode & 0o022 == 0
            #expect(try LogError.code { _ = try read() } == (isForReading ? .keyShared : .keyExposed))
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
            #expect(try LogError.code { _ = try read() } == (expected ?? .keyShared))
            // A folder that only begins with the same letters.
            #expect(
                try LogError.code { _ = try read(below: [String(folder.path.dropLast())]) } == expected ?? .keyShared)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make root's files"))
    func rootsFilesServeInMemoryOnReadOnlyVolumesAndWhereAccepted() throws {
        func sharing(_ mode: Int, accepting: Bool = false, on volume: Volume = Volume()) throws -> SecretFile.Sharing? {
            try setMode(path, mode)
            return try read(accepting: accepting, on: volume).sharing
        }
        for mode in [0o440, 0o444, 0o644] {
            #expect(try sharing(mode, on: Volume(isInMemory: true)) == .inMemory)
            #expect(try sharing(mode, on: Volume(isReadOnly: true)) == .readOnly)
            #expect(try sharing(mode, accepting: true) == .accepted)
        }
        #expect(try sharing(0o600, accepting: true, on: Volume(isInMemory: true)) == nil)
        // Never one that others can write.
        for mode in [0o460, 0o646, 0o666] {
            let code = try LogError.code { _ = try sharing(mode, accepting: true, on: Volume(isInMemory: true)) }
            #expect(code == .keyExposed)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func otherPeoplesFilesThatCanBeReadServeNowhere() throws {
        try setMode(path, 0o444)
        try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path)
        let volume = Volume(isInMemory: true, isReadOnly: true)
        #expect(try LogError.code { _ = try read(accepting: true, on: volume) } == .keyExposed)
    }

    /// Root reads a user's key, but does not sign by it.
    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func otherPeoplesFilesAreReadByRootAndNotBelieved() throws {
        try setMode(path, 0o600)
        func code(isBelieved: Bool) throws -> LogError.Code? {
            try LogError.code {
                _ = try KeyFile.read(path, secretFolders: [], isBelieved: isBelieved, in: FaultyFileSystem())
            }
        }
        #expect(try code(isBelieved: true) == nil)
        try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path)
        #expect(try code(isBelieved: false) == nil)
        #expect(try code(isBelieved: true) == .untrustworthy)
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
            _ = try KeyFile.read(secrets + "/key", secretFolders: [secrets], in: FaultyFileSystem())
        }
        #expect(code == (geteuid() == 0 ? .keyShared : .keyExposed))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give folders away"))
    func oneInAFolderOfAnotherUserOrThroughItServesNowhere() throws {
        let theirs = folder.file("theirs")
        try FileManager.default.createDirectory(atPath: theirs, withIntermediateDirectories: true)
        try overwrite(theirs + "/key", Array("a passphrase".utf8))
        for file in [path, theirs + "/key"] { try setMode(file, 0o444) }
        // To ours through theirs, and to theirs from ours.
        let links = [(theirs + "/link", path), (folder.file("link"), theirs + "/key")]
        for (link, target) in links { try #require(symlink(target, link) == 0) }
        try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: theirs)
        for (link, _) in links {
            let files = FaultyFileSystem(volume: Volume(isInMemory: true))
            #expect(try LogError.code { _ = try KeyFile.read(link, secretFolders: [], in: files) } == .keyShared)
        }
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
