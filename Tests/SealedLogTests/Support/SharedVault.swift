import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// A vault with two members, Mia, who is the first one, and Tom. Each has a device.
struct SharedVault {
    let fixture: LogFixture
    let mia: DeviceKey
    let tom: DeviceKey

    init() throws {
        fixture = try LogFixture(history: .standard)
        mia = try DeviceKey(.generate())
        tom = try DeviceKey(.generate())
    }

    func open(
        _ path: String? = nil, as key: DeviceKey?, remembering: Bool = false, accepting: [LogError.Code] = [],
        joining joined: [SealedLog] = [], in files: any FileSystem = PosixFileSystem()
    ) throws -> SealedLog {
        var options = fixture.options(remembering: remembering, accepting: accepting)
        options.joined = joined
        if let key { options.deviceKey = { () throws(LogError) in key } }
        return try openApart(path ?? fixture.path, options: options, in: files, readKey: fixture.key)
    }

    func addMembers(to log: SealedLog) throws {
        try log.changeMembers { (members) throws(LogError) in
            try members.add("mia", mia.device, signedBy: mia)
            try members.add("tom", tom.device, signedBy: mia)
        }
    }

    /// The vault, as Mia has it open. A name is from before there were members.
    func founded(remembering: Bool = false) throws -> SealedLog {
        let log = try open(as: mia, remembering: remembering)
        try log.set("before", "1")
        try addMembers(to: log)
        return log
    }

    /// A copy of the vault, as another machine has it open.
    func forked(_ name: String = "fork.vault", as key: DeviceKey?) throws -> SealedLog {
        let fork = fixture.folder.file(name)
        try overwrite(fork, fixture.bytes)
        return try open(fork, as: key)
    }

    func remove(_ name: String, from log: SealedLog) throws {
        try log.changeMembers { (members) throws(LogError) in try members.remove(name, signedBy: mia) }
    }
}

extension SealedLog {
    func changeMembers(_ change: (inout MemberList) throws(LogError) -> Void) throws {
        _ = try changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in try change(&table.members) }
        // So that this machine has seen it.
        _ = try members()
    }

    /// Who has made the changes of a name, oldest first.
    func authors(of name: String) throws -> [String] {
        try loggedChanges(prefix: Array(name.utf8)).filter { $0.name == name }
            .map { $0.author.map { "\($0)" } ?? "nobody" }
    }
}
