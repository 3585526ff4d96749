import Foundation
import LinuxSystem
import SealedFormat
import Sealing
import TestSupport
import Testing

@testable import Vault

/// Earlier values through the public interface.
@Suite("History of a keychain")
struct HistoryTests {
    private let fixture: KeychainFixture
    private let keychain: Keychain

    init() throws {
        fixture = try KeychainFixture()
        keychain = try fixture.open()
    }

    private func earlier(_ name: String, in keychain: Keychain? = nil) throws -> [String] {
        let keychain = keychain ?? self.keychain
        return try keychain.history.versions(of: name).map { version in
            guard let value = try keychain.history.get(name, version) else { return "nothing" }
            return String(decoding: value.unsafeArray(), as: UTF8.self)
        }
    }

    /// Who was shut out and signs on is no author that a program can take for a member.
    @Test func hasAMemberOrNobodyAsItsAuthor() throws {
        func author(_ signer: MemberList.Author?) -> String? {
            var nonces = NonceSource()
            return Keychain.History.Version(number: 1, modified: Date(), size: 2, signer: signer, nonce: nonces.next())
                .author
        }
        #expect(author(.member("mia")) == "mia" && author(.removed("tom")) == nil && author(nil) == nil)
        let fixture = try KeychainFixture()
        var location = fixture.location
        location.deviceKey = fixture.folder.file("device.key")
        let opened = try Keychain(at: location, creatingIfAbsent: true)
        try opened.set("a", to: "0")
        try opened.members.add("mia", device: nil, recipient: nil)
        for text in ["1", "2"] { try opened.set("a", to: text) }
        #expect(try opened.history.versions(of: "a").map(\.author) == ["mia", nil])
    }

    @Test func tellsWhatANameHadBeforeNewestFirst() throws {
        #expect(try keychain.history.versions(of: "a") == [])
        let start = Date(timeIntervalSinceNow: -1)
        for text in ["1", "22", "333"] { try keychain.set("a", to: text) }
        let history = try keychain.history.versions(of: "a")
        #expect(history.map(\.number) == [1, 2] && history.map(\.size) == [2, 1])
        #expect(history.allSatisfy { $0.modified > start && $0.modified <= Date(timeIntervalSinceNow: 1) })
        #expect(try earlier("a") == ["22", "1"])
        try keychain.remove("a")
        #expect(try earlier("a") == ["333", "22", "1"])
        #expect(try keychain.text("a") == nil)
    }

    @Test func restoresTheLastValueOrAnotherOne() throws {
        for text in ["1", "2", "3"] { try keychain.set("a", to: text) }
        try keychain.history.restore("a")
        #expect(try keychain.text("a") == "2")
        #expect(try earlier("a") == ["3", "1"])
        let oldest = try #require(try keychain.history.versions(of: "a").last)
        try keychain.history.restore("a", oldest)
        #expect(try keychain.text("a") == "1")
        // It is not history any more.
        let error = try VaultError.error { try keychain.history.restore("a", oldest) }
        #expect(error?.code == .absent && error?.message.contains("\"a\" is no longer kept") == true)
        try keychain.remove("a")
        try keychain.history.restore("a")
        #expect(try keychain.text("a") == "1")
    }

    @Test func ofWhatIsNotKeptNothingIsRestored() throws {
        for name in ["none", "once"] {
            if name == "once" { try keychain.set(name, to: "1") }
            let error = try VaultError.error { try keychain.history.restore(name) }
            #expect(error?.code == .absent && error?.message == "No earlier value of \"\(name)\" is kept.")
        }
        #expect(try keychain.text("once") == "1")
    }

    /// Changes a byte in the first value of the checkpoint.
    private func damageFirstValue() throws {
        var bytes = try contents(fixture.location.vault)
        bytes[8_192] ^= 1
        try overwrite(fixture.location.vault, bytes)
    }

    @Test func aValueThatDoesNotOpenIsNotPutBack() throws {
        try keychain.set("a", to: "1")
        try keychain.maintenance.compact()
        try damageFirstValue()
        try keychain.set("a", to: "22")
        let damaged = try #require(try keychain.history.versions(of: "a").first)
        #expect(try VaultError.code { _ = try keychain.history.get("a", damaged) } == .damaged)
        for version in [nil, damaged] {
            let error = try VaultError.error { try keychain.history.restore("a", version) }
            #expect(error?.code == .damaged)
            #expect(error?.message.contains("Nothing was repaired.") == true)
        }
        #expect(try keychain.text("a") == "22" && keychain.history.versions(of: "a").map(\.size) == [1])
    }

    @Test func anUndoOfWhichOneValueDoesNotOpenChangesNothing() throws {
        try keychain.set("a", to: "1")
        try keychain.maintenance.compact()
        try damageFirstValue()
        Clock.sleep(microseconds: 3_000)
        try keychain.transaction { transaction in
            try transaction.set("a", to: "22")
            try transaction.set("b", to: "22")
        }
        #expect(try VaultError.code { _ = try keychain.history.undo() } == .damaged)
        #expect(try keychain.text("a") == "22" && keychain.text("b") == "22")
        #expect(try keychain.history.versions(of: "a").count == 1 && keychain.history.versions(of: "b").isEmpty)
    }

    @Test func undoTakesAValueBackThatHasExpired() throws {
        try keychain.set("a", to: "former")
        try keychain.set("a", to: "expired", expires: Date(timeIntervalSinceNow: -1))
        #expect(try keychain.history.undo() == ["a"])
        #expect(try keychain.text("a") == "former")
    }

    @Test func undoTakesTheNewestChangeBackAndThenMakesItAgain() throws {
        #expect(try keychain.history.undo() == [])
        try keychain.set("a", to: "1")
        Clock.sleep(microseconds: 3_000)
        try keychain.transaction { transaction in
            try transaction.set("a", to: "2")
            try transaction.set("b", to: "2")
        }
        Clock.sleep(microseconds: 3_000)
        #expect(try keychain.history.undo() == ["a", "b"])
        #expect(try keychain.text("a") == "1" && keychain.text("b") == nil)
        Clock.sleep(microseconds: 3_000)
        #expect(try keychain.history.undo() == ["a", "b"])
        #expect(try keychain.text("a") == "2" && keychain.text("b") == "2")
        Clock.sleep(microseconds: 3_000)
        try keychain.remove("a")
        Clock.sleep(microseconds: 3_000)
        #expect(try keychain.history.undo() == ["a"])
        #expect(try keychain.text("a") == "2")
    }

    @Test func purgeLeavesNoValueAndNoBytes() throws {
        for text in ["1", "2"] { try keychain.set("a", to: text) }
        try keychain.set("b", to: "kept")
        try keychain.remove("a")
        let size = try keychain.maintenance.information().liveBytes
        #expect(try keychain.history.purge("a"))
        #expect(try keychain.history.versions(of: "a") == [])
        #expect(try keychain.maintenance.information().liveBytes < size)
        #expect(try keychain.maintenance.information().deadBytes == 0)
        #expect(try !keychain.history.purge("a"))
        #expect(try keychain.text("b") == "kept")
        #expect(try VaultError.code { try keychain.history.restore("a") } == .absent)
    }

    @Test func limitsAreThoseOfTheVaultAndCanBeChanged() throws {
        #expect(try keychain.history.retention() == Keychain.History.Retention(versions: 10, days: 90))
        for number in 0..<12 { try keychain.set("a", to: "\(number)") }
        #expect(try keychain.history.versions(of: "a").count == 10)
        try keychain.history.setRetention(Keychain.History.Retention(versions: 2, days: 1))
        #expect(try earlier("a") == ["10", "9"])
        #expect(try fixture.open().history.retention() == Keychain.History.Retention(versions: 2, days: 1))
        for limits in [(-1, 1), (256, 1), (1, -1), (1, 1 << 32)] {
            let limits = Keychain.History.Retention(versions: limits.0, days: limits.1)
            let error = try VaultError.error { try keychain.history.setRetention(limits) }
            #expect(error?.code == .invalid && error?.message.contains("0 to 255 versions") == true)
        }
        try keychain.history.setRetention(Keychain.History.Retention(versions: 0, days: 90))
        #expect(try keychain.history.versions(of: "a") == [])
    }

    @Test func aPartSeesAndUndoesItsOwnAlone() throws {
        let part = try Keychain(
            at: fixture.location, KeychainPart(prefix: "user/", showsOthers: false), creatingIfAbsent: false,
            failures: FailureLog())
        try part.set("a", to: "1")
        try part.set("a", to: "2")
        try keychain.set("a", to: "whole 1")
        Clock.sleep(microseconds: 3_000)
        try keychain.set("a", to: "whole 2")
        #expect(try earlier("a", in: part) == ["1"])
        #expect(try earlier("a") == ["whole 1"])
        // The newest change of all is not the part's.
        #expect(try part.history.undo() == ["a"])
        #expect(try keychain.text("a") == "whole 2")
        #expect(try part.text("a") == "1")
        #expect(try earlier("user/a") == ["2"])
        #expect(try part.history.purge("a"))
        #expect(try earlier("user/a") == [] && earlier("a") == ["whole 1"])
    }

    @Test func aStoreThatForgetsLeavesNoEarlierValue() throws {
        let store = keychain.scoped(to: "account").forgettingHistory()
        _ = try store.commit(StoreBatch(["token": .string("first")]))
        _ = try store.commit(StoreBatch(["token": .string("second")]))
        #expect(try keychain.text("account/token") == "second")
        #expect(try keychain.history.versions(of: "account/token") == [])
        _ = try store.scoped(to: "deeper").commit(StoreBatch(["token": .string("first")]))
        _ = try store.scoped(to: "deeper").commit(StoreBatch(["token": nil]))
        #expect(try keychain.history.versions(of: "account/deeper/token") == [])
        _ = try store.commit(StoreBatch(["token": nil]))
        #expect(try keychain.history.versions(of: "account/token") == [])
        // Others do not.
        let other = keychain.scoped(to: "account")
        for text in ["third", "fourth"] { _ = try other.commit(StoreBatch(["token": .string(text)])) }
        #expect(try keychain.history.versions(of: "account/token").count == 1)
    }
}
