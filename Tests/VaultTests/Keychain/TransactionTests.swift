import Foundation
import LinuxSystem
import SealedLog
import Sealing
import TestSupport
import Testing
import Vault

@Suite("Transactions")
struct TransactionTests {
    private struct Failure: Error {}
    private let fixture: KeychainFixture
    private let keychain: Keychain

    init() throws {
        fixture = try KeychainFixture()
        keychain = try fixture.open()
        try keychain.set("a", to: "1")
        try keychain.set("b", to: "2")
    }

    private func state() throws -> [String: String] {
        try keychain.keys().reduce(into: [:]) { $0[$1] = try keychain.unsafeString($1) }
    }

    @Test func areMadeAllTogether() throws {
        let before = try keychain.maintenance.information().sequence
        let result = try keychain.transaction { transaction in
            try transaction.set("a", to: "3")
            try transaction.remove("b")
            try transaction.set("c", to: [52])
            return "done"
        }
        #expect(result == "done")
        #expect(try state() == ["a": "3", "c": "4"])
        #expect(try keychain.maintenance.information().sequence == before + 1)
    }

    @Test func thatThrowChangeNothing() throws {
        #expect(throws: Failure.self) {
            try keychain.transaction { transaction in
                try transaction.set("a", to: "3")
                try transaction.remove("b")
                throw Failure()
            }
        }
        #expect(throws: VaultError.self) {
            try keychain.transaction { transaction in
                try transaction.set("a", to: "3")
                try transaction.set("", to: "3")
            }
        }
        #expect(try state() == ["a": "1", "b": "2"])
    }

    @Test func seeWhatTheyHaveDoneThemselves() throws {
        try keychain.transaction { transaction in
            #expect(try transaction.get("a")?.unsafeString() == "1")
            try transaction.set("a", to: "3")
            #expect(try transaction.get("a")?.unsafeString() == "3")
            #expect(try transaction.exists("a"))
            #expect(try transaction.remove("a"))
            #expect(try !transaction.exists("a"))
            #expect(try transaction.get("a") == nil)
            #expect(try !transaction.remove("a"))
            try transaction.set("a", to: "4")
            try transaction.set("c", to: "5")
            #expect(try transaction.remove("c"))
            // Outside nothing has happened yet.
            #expect(try state() == ["a": "1", "b": "2"])
        }
        #expect(try state() == ["a": "4", "b": "2"])
    }

    @Test func withoutChangesWriteNothing() throws {
        let before = try contents(fixture.location.vault)
        try keychain.transaction { _ in }
        #expect(try keychain.transaction { try $0.get("a")?.unsafeString() } == "1")
        #expect(try !keychain.transaction { try $0.remove("none") })
        #expect(try contents(fixture.location.vault) == before)
    }

    @Test func runAgainIfWhatTheyHaveReadWasChanged() throws {
        var runs = 0
        try keychain.transaction { transaction in
            runs += 1
            let value = try transaction.get("a")?.unsafeString() ?? ""
            if runs == 1 { try keychain.set("a", to: "7") }
            try transaction.set("c", to: value)
        }
        #expect(runs == 2)
        #expect(try keychain.unsafeString("c") == "7")
    }

    @Test func runAgainIfWhatTheyHaveMissedWasMade() throws {
        var runs = 0
        try keychain.transaction { transaction in
            runs += 1
            let isThere = try transaction.exists("new")
            if runs == 1 { try keychain.set("new", to: "x") }
            try transaction.set("c", to: isThere ? "yes" : "no")
        }
        #expect(runs == 2)
        #expect(try keychain.unsafeString("c") == "yes")
    }

    @Test func runAgainIfAValueThatWasNotThereWasMade() throws {
        var runs = 0
        try keychain.transaction { transaction in
            runs += 1
            let value = try transaction.get("new")?.unsafeString()
            if runs == 1 { try keychain.set("new", to: "x") }
            try transaction.set("c", to: value ?? "none")
        }
        #expect(runs == 2)
        #expect(try keychain.unsafeString("c") == "x")
    }

    @Test func runAgainIfTheSecondReadingIsAnotherThanTheFirst() throws {
        var runs = 0
        try keychain.transaction { transaction in
            runs += 1
            let first = try transaction.get("a")?.unsafeString() ?? ""
            if runs == 1 { try keychain.set("a", to: "7") }
            try transaction.set("c", to: first + (transaction.get("a")?.unsafeString() ?? ""))
        }
        #expect(runs == 2)
        #expect(try keychain.unsafeString("c") == "77")
    }

    @Test func givesUpIfOthersNeverCease() throws {
        var options = Keychain.Options()
        options.lockTimeout = .milliseconds(100)
        let impatient = try Keychain(at: fixture.location, options: options)
        var runs = 0
        let code = try VaultError.code {
            try impatient.transaction { transaction in
                runs += 1
                _ = try transaction.get("a")
                try keychain.set("a", to: "\(runs)")
                try transaction.set("c", to: "x")
            }
        }
        #expect(code == .busy)
        #expect(runs > 1)
        #expect(try keychain.get("c") == nil)
    }

    @Test func keepTheErrorThatTheirClosureDeclares() throws {
        func swap() throws(VaultError) -> Bool {
            try keychain.transaction { (transaction) throws(VaultError) in
                guard let a = try transaction.get("a"), let b = try transaction.get("b") else { return false }
                try transaction.set("a", to: b)
                try transaction.set("b", to: a)
                return true
            }
        }
        #expect(try swap())
        #expect(try state() == ["a": "2", "b": "1"])
    }

    @Test func ofManyNamesAreOneRecord() throws {
        try keychain.transaction { transaction in
            for number in 0..<1_000 { try transaction.set("many/\(number)", to: "value \(number)") }
        }
        #expect(try keychain.keys(prefix: "many/").count == 1_000)
        #expect(try keychain.unsafeString("many/999") == "value 999")
        #expect(try keychain.maintenance.verify(progress: nil).records == 3)
    }
}
