import Foundation
import LinuxSystem
import SealedLog
import Sealing
import TestSupport
import Testing
import Vault

@Suite("Concurrency of the keychain", .serialized)
struct KeychainConcurrencyTests {
    private let fixture: KeychainFixture

    init() throws {
        fixture = try KeychainFixture()
    }

    @Test func twoNamesThatAreSwappedAreNeverSeenAlike() throws {
        let keychain = try fixture.open()
        try keychain.set("left", to: "L")
        try keychain.set("right", to: "R")
        let swaps = Mutex(0)
        try onThreads(6) { thread in
            for _ in 0..<40 {
                if thread < 3 {
                    try keychain.transaction { transaction in
                        let left = try transaction.get("left")?.unsafeString() ?? ""
                        letOthersRun()
                        let right = try transaction.get("right")?.unsafeString() ?? ""
                        try transaction.set("left", to: right)
                        try transaction.set("right", to: left)
                    }
                    swaps.withLock { $0 += 1 }
                } else {
                    // A transaction that only reads sees both as they were at one moment.
                    let both = try keychain.transaction { transaction in
                        let left = try transaction.get("left")?.unsafeString() ?? ""
                        letOthersRun()
                        return left + (try transaction.get("right")?.unsafeString() ?? "")
                    }
                    #expect(both == "LR" || both == "RL")
                }
            }
        }
        #expect(swaps.withLock { $0 } == 120)
        #expect(try keychain.unsafeString("left") == "L")
        #expect(try keychain.maintenance.verify(progress: nil).entries == 2)
    }

    /// Between two reads, where a transaction that relied on nothing would come apart.
    private func letOthersRun() {
        Thread.sleep(forTimeInterval: 0.000_2)
    }

    @Test func everyRenameUnderContentionMovesOneValue() throws {
        let keychain = try fixture.open()
        try keychain.set("place 0", to: "the value")
        try onThreads(4) { thread in
            for number in 0..<30 {
                for from in 0..<3 {
                    let code = try VaultError.code {
                        try keychain.rename("place \(from)", to: "place \((from + thread + number) % 3)")
                    }
                    try #require([nil, .absent, .exists].contains(code))
                }
            }
        }
        let names = try keychain.keys()
        #expect(names.count == 1)
        #expect(try keychain.unsafeString(names[0]) == "the value")
    }

    @Test func eightThreadsThatCreateAtOnceMakeOneVaultAndOneKey() throws {
        for _ in 0..<10 {
            let fixture = try KeychainFixture()
            let made = Mutex<[Keychain.Created]>([])
            try onThreads(8) { thread in
                let keychain = try fixture.open()
                made.withLock { $0.append(keychain.created) }
                try keychain.set("name \(thread)", to: "\(thread)")
            }
            #expect(made.withLock { $0.filter(\.vault).count } == 1)
            #expect(made.withLock { $0.filter(\.keyFile).count } == 1)
            let keychain = try Keychain(at: fixture.location)
            #expect(try keychain.keys() == (0..<8).map { "name \($0)" })
            #expect(try keychain.maintenance.verify(progress: nil).entries == 8)
        }
    }
}
