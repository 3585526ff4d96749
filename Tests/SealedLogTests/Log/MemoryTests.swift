import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// Each in a process of its own, whose whole memory is looked through: nothing else works there meanwhile.
@Suite("What is left in memory", .disabled(if: MemoryScan.obstacle != nil, "\(MemoryScan.obstacle ?? "")"))
struct MemoryTests {
    /// 5,000 bytes are more than a block of the shared memory holds.
    @Test(arguments: [16, 48, 5_000]) func nothingOfAValueThatWasWrittenAndRead(size: Int) async {
        await #expect(processExitsWith: .success) { [size = size as Int] in
            let fixture = try LogFixture()
            let value = try SecretBytes.random(size / 8 * 8)
            try MemoryScan.farDown { try fixture.open().store("name", value) }
            #expect(try MemoryScan.copies(of: value) == [])
            try MemoryScan.farDown {
                let log = try fixture.open()
                guard let opened = try log.open("name") else { throw LogError(.missing) }
                let isEqual = opened.isEqual(to: value)
                #expect(isEqual)
                let found = try log.openTagged(prefix: []) { _, opened in opened.bytes.isEqual(to: value) }
                #expect(found == [true])
                try log.verify()
                try log.compact()
            }
            #expect(try MemoryScan.copies(of: value) == [])
            // The one that it was made from is all that is left, in guarded memory too.
            #expect(try MemoryScan.copies(of: value, ordinaryOnly: false).count == 1)
        }
    }

    @Test func nothingOfTheKeysOfAGeneratedKeyFile() async {
        await #expect(processExitsWith: .success) {
            let fixture = try LogFixture()
            try expectNoCopies(of: fixture.keyPath, openingVaultAt: fixture.path)
        }
    }

    @Test func nothingOfTheKeysOfAnotherFileAndOfWhatItIsStretchedTo() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let path = folder.file("default.vault")
            let keyPath = folder.file("any.key")
            let files = PosixFileSystem()
            let file = try files.open(keyPath, .create)
            try SecretBytes.random(64).withUnsafeBytes { try files.write(file, $0, at: 0) }
            _ = try SealedLog.create(
                path, key: KeyFile.read(keyPath, secretFolders: [], in: files), label: "", options: .init(), in: files)
            try expectNoCopies(of: keyPath, openingVaultAt: path)
        }
    }
}

/// Opens a vault, writes and reads, and looks for its key file's bytes, its data key and its subkeys.
private func expectNoCopies(of keyPath: String, openingVaultAt path: String) throws {
    let files = PosixFileSystem()
    func readKey() throws(LogError) -> KeyFile { try KeyFile.read(keyPath, secretFolders: [], in: files) }
    let log = try openApart(path, options: SealedLog.Options(), readKey: readKey)
    try MemoryScan.farDown {
        let log = try openApart(path, options: SealedLog.Options(), readKey: readKey)
        try log.set("name", "value")
        try log.verify()
        try log.compact()
    }
    let key = try readKey()
    #expect(try MemoryScan.copies(of: key.secret) == [])

    var dataKey = try SecretBytes(zeros: SecretBox.keySize)
    var wrappingKey = try SecretBytes(zeros: SecretBox.keySize)
    let slot = try #require(log.view.withLock { $0.header.slots }.first)
    let isOpen = try dataKey.withUnsafeMutableBytes { dataKey in
        try wrappingKey.withUnsafeMutableBytes { try slot.unwrap(with: .keyFile(readKey()), into: dataKey, $0) }
    }
    try #require(isOpen)
    #expect(try MemoryScan.copies(of: dataKey) == [])
    #expect(try MemoryScan.copies(of: wrappingKey) == [])
    for purpose in KeyPurpose.allCases {
        var subkey = try SecretBytes(zeros: SecretBox.keySize)
        log.keys.withKey(purpose) { bytes in subkey.withUnsafeMutableBytes { $0.copyMemory(from: bytes) } }
        #expect(try MemoryScan.copies(of: subkey) == [], "\(purpose)")
    }
}

extension SealedLog {
    /// Sets a name to bytes that stay in guarded memory.
    fileprivate func store(_ name: String, _ value: borrowing SecretBytes) throws {
        var nonces = NonceSource()
        let sealed = try seal(value, kind: 0, nonces: &nonces)
        let change = Change(try .sample(name), .anything, .set(sealed, attributes: nil))
        try commit([change], timeout: SealedLog.patience)
    }
}
