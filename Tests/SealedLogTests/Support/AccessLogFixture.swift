import LinuxSystem
import Sealing
import TestSupport
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

/// A file of the access log in a folder of its own.
struct AccessLogFixture {
    let folder: TemporaryFolder
    let keys: KeyRing
    let vaultID = RandomBytes.array(16)

    init() throws {
        folder = try TemporaryFolder()
        keys = try randomKeys()
    }

    var path: String { folder.file("state/\(AccessLog.name(vaultID))") }
    var formerPath: String { path + "-former" }

    func log(in files: any FileSystem = PosixFileSystem(), under keys: KeyRing? = nil) throws -> AccessLog {
        let accessKeys = try AccessKeys(keys ?? self.keys, formerMemoryKeys: keys == nil ? [] : [self.keys.memoryKey])
        return AccessLog(
            folder: MemoryFolder(path: folder.file("state"), fileSystem: files),
            records: AccessRecords(vaultID: vaultID, keys: accessKeys))
    }

    func access(_ name: String) -> Access {
        Access(name: name, command: "get", program: "/bin/sh", process: 7, user: 1_000)
    }

    func append(_ names: String..., to log: AccessLog? = nil) throws {
        let log = try log ?? self.log()
        for name in names { try log.append(access(name), until: Deadline(after: .seconds(30))) }
    }

    func report(_ log: AccessLog? = nil) throws -> AccessReport {
        try (log ?? self.log()).read(until: Deadline(after: .seconds(30)))
    }
}

extension AccessReport {
    var names: [String] { records.map(\.access.name) }
    var offsets: [Int] { damage.map(\.offset) }
}
