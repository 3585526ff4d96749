import Sealing
import TestSupport
import Testing
import Vault

/// What a program that keeps its secrets in guarded memory finds elsewhere in its memory: nothing. In processes of
/// their own.
@Suite("What is left in memory", .disabled(if: MemoryScan.obstacle != nil, "\(MemoryScan.obstacle ?? "")"))
struct MemoryTests {
    @Test func nothingOfAValueThatStaysInGuardedMemory() async {
        await #expect(processExitsWith: .success) {
            let fixture = try KeychainFixture()
            let value = try SecretBytes.random(48)
            let keychain = try fixture.open()
            let key = KeychainStorable<String>("typed", in: .store(keychain))
            for way in 0..<10 {
                try MemoryScan.farDown {
                    switch way {
                    case 0: try keychain.set("name", to: value)
                    case 1: try key.write(secret: value)
                    case 2: #expect(try keychain.withSecret("name") { $0.byteCount } == 48)
                    case 3: #expect(try key.withSecret { $0.byteCount } == 48)
                    case 4: _ = try keychain.get("name")
                    case 5: try keychain.copy("name", to: "copy")
                    case 6:
                        try keychain.transaction { transaction in
                            guard let found = try transaction.get("copy") else { throw VaultError(.absent, "copy") }
                            try transaction.set("again", to: found)
                        }
                    case 7: _ = try keychain.maintenance.verify()
                    case 8: #expect(try keychain.keys().count == 4)
                    default: try keychain.maintenance.compact()
                    }
                }
                #expect(try MemoryScan.copies(of: value) == [], "way \(way)")
            }
            #expect(try MemoryScan.copies(of: value, ordinaryOnly: false).count == 1)
        }
    }

    /// It left guarded memory once, as a string; what the library made of it on the way is gone.
    @Test func whatIsTakenOutIsThereAndTheScanSeesIt() async {
        await #expect(processExitsWith: .success) {
            let fixture = try KeychainFixture()
            let value = try SecretBytes.random(48)
            let keychain = try fixture.open()
            try keychain.set("name", to: value)
            let copy = try keychain.get("name")?.unsafeArray()
            #expect(try !MemoryScan.copies(of: value).isEmpty)
            withExtendedLifetime(copy) {}
        }
    }
}
