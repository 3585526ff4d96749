import Age
import Foundation
import SealedLog
import TestSupport
import Testing

@testable import Vault

/// Which keys open a vault once two copies were merged: what one of them has removed does not come back.
@Suite("Keys of merged copies")
struct MergedKeysTests {
    private let fixture: KeychainFixture
    private let here: Keychain
    private let there: Keychain
    /// Of the keys after the first one, which opens both copies.
    private let files: [String]
    private let recipient: String

    /// Two copies with the keys of both laptops, of Bob and of Tom, and of a recipient.
    init() throws {
        fixture = try KeychainFixture()
        here = try fixture.open()
        try here.set("a", to: "1")
        files = ["bob.key", "tom.key"].map { [folder = fixture.folder] in folder.file($0) }
        for (file, label) in zip(files, ["bob", "tom"]) { try here.vaultKeys.addKeyFile(at: file, label: label) }
        recipient = try #require(try Identity.generate().recipient).text
        try here.vaultKeys.addRecipient(recipient)
        var location = fixture.location
        location.vault = fixture.folder.file("copy.vault")
        location.rollbackMemory = fixture.folder.file("there.state")
        try here.copies.backUp(to: location.vault)
        there = try Keychain(at: location)
    }

    /// Rotates the data key; every key stays that is not dropped.
    private func rotate(_ keychain: Keychain, dropping dropped: String? = nil, replacing replaced: String? = nil) throws
    {
        func keys(_ label: String?) throws -> Set<Keychain.VaultKeys.Key> {
            Set(try keychain.vaultKeys.all().filter { $0.label == label })
        }
        _ = try keychain.vaultKeys.rotateDataKey(dropping: keys(dropped), replacing: keys(replaced)) {
            [files, fixture] (key) throws(VaultError) in
            if key.label == replaced { return try .keyFile(fixture.folder.file("new.key")) }
            guard ["bob", "tom"].contains(key.label) else { return nil }
            return try .keyFile(files[key.label == "bob" ? 0 : 1])
        }
    }

    private func remove(_ label: String, from keychain: Keychain) throws {
        try keychain.vaultKeys.remove(#require(try keychain.vaultKeys.all().first { $0.label == label }))
    }

    @discardableResult
    private func merge(
        _ other: Keychain, into keychain: Keychain, taking taken: NamesTaken = .none, keeping kept: Set<Int> = []
    ) throws -> Keychain.Copies.Merge {
        try keychain.copies.merge(
            keychain.copies.copy(at: other.location.vault), taking: taken, keepingKeys: salts(kept, of: keychain),
            progress: nil)
    }

    private func salts(_ numbers: Set<Int>, of keychain: Keychain) throws -> Set<[UInt8]> {
        Set(try keychain.vaultKeys.all().filter { numbers.contains($0.number) }.map(\.salt))
    }

    private func labels(_ keychain: Keychain) throws -> [String] { try keychain.vaultKeys.all().map(\.label) }

    // MARK: Removed without a rotation

    /// The other copy was rotated meanwhile, by somebody who did not know of it.
    @Test func aKeyThatWasRemovedHereDoesNotComeBackWithARotation() throws {
        try remove("tom", from: here)
        try rotate(there)
        try there.set("b", to: "2")
        let merge = try merge(there, into: here)
        #expect(merge.changed == ["b"] && merge.keys == .other && merge.doubtedKeys == [] && merge.isWhole)
        #expect(merge.removedKeys.map(\.label) == ["tom"] && merge.addedKeys == [] && merge.lostKeys == [])
        #expect(try labels(here) == ["", "bob", ""])
        try here.maintenance.verify()
        // So it stays, whatever comes of the other copy.
        try there.set("c", to: "3")
        #expect(try self.merge(there, into: here, taking: .all).removedKeys == [])
        #expect(try labels(here) == ["", "bob", ""])
    }

    /// Nobody knows who has written a copy under a former data key.
    @Test(arguments: [true, false]) func aKeyThatOnlyAnOlderCopyHasRemovedIsDoubted(isKept: Bool) throws {
        try remove("tom", from: there)
        try rotate(here)
        try there.set("b", to: "2")
        let bytes = try contents(fixture.location.vault)
        var merge = try merge(there, into: here, taking: .all)
        #expect(merge.doubtedKeys.map(\.label) == ["tom"] && !merge.isWhole && merge.changed == [])
        #expect(try self.merge(there, into: here, taking: .all, keeping: [1, 2, 4]).doubtedKeys == merge.doubtedKeys)
        #expect(try contents(fixture.location.vault) == bytes)
        if isKept {
            merge = try self.merge(there, into: here, taking: .all, keeping: [3])
            #expect(merge.isWhole && merge.changed == ["b"] && merge.removedKeys == [])
            #expect(try labels(here) == ["", "bob", "tom", ""])
            // It counts as added since.
            #expect(try self.merge(here, into: there).addedKeys.map(\.label) == ["tom"])
            #expect(try labels(there) == ["", "bob", "tom", ""])
        } else {
            // The other way, it stays out.
            merge = try self.merge(here, into: there, taking: NamesTaken(["b"]))
            #expect(merge.isWhole && merge.removedKeys.map(\.label) == ["tom"])
            #expect(try labels(there) == ["", "bob", ""])
        }
    }

    /// Neither here nor on another machine, although the copy with the removal has nothing else.
    @Test(arguments: [true, false]) func aKeyThatAPersonHasKeptIsNotAskedAboutAgain(isWhole: Bool) throws {
        try remove("tom", from: there)
        try rotate(here)
        var location = there.location
        location.vault = fixture.folder.file("third.vault")
        location.rollbackMemory = nil
        try here.copies.backUp(to: location.vault)
        let third = try Keychain(at: location)
        #expect(try merge(there, into: here).doubtedKeys.map(\.label) == ["tom"])
        // The first counts as merged, with what it has removed.
        #expect(try merge(there, into: here, taking: isWhole ? .all : .none, keeping: [2, 3]).isWhole)
        #expect(try merge(there, into: here).doubtedKeys == [])
        #expect(try merge(here, into: third).removedKeys == [])
        for keychain in [here, third] { #expect(try labels(keychain) == ["", "bob", "tom", ""]) }
        // Only the kept one has got another name.
        let pairs = zip(try here.vaultKeys.all(), try third.vaultKeys.all())
        #expect(pairs.map { $0.created == $1.created } == [true, true, false, true])
    }

    @Test func underOneDataKeyWhatEitherHasRemovedIsRemoved() throws {
        var location = there.location
        location.vault = fixture.folder.file("third.vault")
        location.rollbackMemory = nil
        try here.copies.backUp(to: location.vault)
        let third = try Keychain(at: location)
        try rotate(third)
        try remove("tom", from: here)
        try remove("bob", from: there)
        try here.set("b", to: "2")
        try there.set("c", to: "3")
        let merges = [try merge(there, into: here), try merge(here, into: there)]
        #expect(merges.map { $0.removedKeys.map(\.label) } == [["bob"], ["tom"]])
        #expect(merges.allSatisfy { $0.isWhole && $0.addedKeys == [] })
        #expect(try labels(here) == ["", ""])
        // Nor does a third copy bring them back.
        let taken = try merge(third, into: here, taking: NamesTaken(["b", "c"]))
        #expect(taken.removedKeys.map(\.label) == ["bob", "tom"])
        #expect(try labels(here) == ["", ""])
    }

    /// Two laptops rotate the data key apart, and one of them shuts somebody out by that.
    @Test func aKeyThatOneOfTwoRotationsHasDroppedIsDoubted() throws {
        let fixture = try KeychainFixture()
        let keychain = try fixture.open()
        try keychain.set("a", to: "1")
        let files = ["bob.key", "tom.key"].map { fixture.folder.file($0) }
        for file in files { try keychain.vaultKeys.addKeyFile(at: file, label: file) }
        var location = fixture.location
        location.vault = fixture.folder.file("copy.vault")
        location.rollbackMemory = nil
        try keychain.copies.backUp(to: location.vault)
        let other = try Keychain(at: location)
        let secret = { (key: Keychain.VaultKeys.Key) throws(VaultError) -> KeySecret? in
            try .keyFile(files[key.number - 2])
        }
        try other.vaultKeys.rotateDataKey(dropping: [other.vaultKeys.all()[1]], secret)
        try other.set("b", to: "2")
        try keychain.vaultKeys.rotateDataKey(secret)
        let bytes = try contents(fixture.location.vault)
        let copied = try contents(location.vault)
        let choices: [(NamesTaken, Set<Int>)] = [(.none, []), (NamesTaken(["b"]), [1, 3]), (.all, [])]
        for (taken, kept) in choices {
            let merge = try keychain.copies.merge(
                keychain.copies.copy(at: location.vault), taking: taken, keepingKeys: salts(kept, of: keychain),
                progress: nil)
            #expect(merge.doubtedKeys.map(\.number) == [2] && merge.changed == [] && merge.refused == [])
        }
        #expect(try contents(fixture.location.vault) == bytes)
        // The other way, no key is here that the other one has not.
        let merge = try other.copies.merge(
            other.copies.copy(at: fixture.location.vault), taking: .none, keepingKeys: [], progress: nil)
        #expect(merge.doubtedKeys == [] && merge.refused == [])
        try overwrite(location.vault, copied)
        let all = try keychain.copies.merge(
            keychain.copies.copy(at: location.vault), taking: .all, keepingKeys: salts([2], of: keychain), progress: nil
        )
        #expect(all.doubtedKeys == [] && all.changed == ["b"] && all.keys == .own)
        #expect(try keychain.vaultKeys.all().map(\.label) == [""] + files)
    }

    /// A rotation on one side alone leaves no doubt: its keys count, and another copy is an older one.
    @Test(arguments: [true, false]) func noKeyIsDoubtedOfCopiesOfWhichOneWasRotated(isCopy: Bool) throws {
        let fixture = try KeychainFixture()
        let keychain = try fixture.open()
        try keychain.set("a", to: "1")
        var location = fixture.location
        location.vault = fixture.folder.file("copy.vault")
        location.rollbackMemory = nil
        try keychain.copies.backUp(to: location.vault)
        let other = try Keychain(at: location)
        try (isCopy ? other : keychain).vaultKeys.rotateDataKey()
        try keychain.vaultKeys.addKeyFile(at: fixture.folder.file("added.key"), label: "added")
        // Otherwise the copy has nothing new, whichever keys it has.
        try other.set("b", to: "2")
        let merge = try keychain.copies.merge(
            keychain.copies.copy(at: location.vault), taking: .none, keepingKeys: [], progress: nil)
        #expect(merge.doubtedKeys == [] && merge.refused == (isCopy ? [] : ["b"]))
    }

    /// Somebody whom a rotation has shut out may have written the file in the vault's place: this machine has seen
    /// another one.
    @Test func whatAFileAtTheVaultsPathHasRemovedDoesNotCountUnlessItIsKnown() throws {
        let former = fixture.folder.file("former.vault")
        try remove("bob", from: there)
        try overwrite(former, contents(there.location.vault))
        var location = fixture.location
        location.vault = former
        try rotate(here, dropping: "tom")
        try here.set("b", to: "2")
        var options = Keychain.Options()
        options.mergedNext = [here.location.vault]
        let opened = try Keychain(at: location, options: options)
        let merge = try opened.copies.merge(
            opened.copies.copy(at: here.location.vault), taking: .none, keepingKeys: [], progress: nil)
        #expect(merge.removedKeys == [] && merge.changed == ["b"])
        #expect(try labels(opened) == ["", "bob", ""])
        // Nor does it afterwards.
        try here.set("c", to: "3")
        let back = try self.merge(opened, into: here)
        #expect(back.removedKeys.map(\.label) == [])
        #expect(try labels(here) == ["", "bob", ""])
    }

    // MARK: What is told

    @Test func keysThatComeAndGoAreTold() throws {
        try here.vaultKeys.addKeyFile(at: fixture.folder.file("late.key"), label: "late")
        try rotate(there, replacing: "bob")
        try there.vaultKeys.addKeyFile(at: fixture.folder.file("more.key"), label: "more")
        let merge = try merge(there, into: here)
        #expect(merge.isWhole && merge.keys == .other)
        #expect(merge.lostKeys.map(\.label) == ["bob", "late"] && merge.removedKeys == [])
        #expect(merge.addedKeys.map(\.label) == ["bob", "more"])
        #expect(try labels(here) == ["", "bob", "tom", "", "more"])
    }

    /// A key that both have added has another name in each.
    @Test func keysThatOpenOneOfTheCopiesAloneAreTold() throws {
        for keychain in [here, there] {
            try keychain.vaultKeys.addKeyFile(at: fixture.folder.file("late.key"), label: "late")
        }
        try there.vaultKeys.addKeyFile(at: fixture.folder.file("more.key"), label: "more")
        try remove("late", from: there)
        let merge = try merge(there, into: here)
        #expect(merge.isWhole && merge.keys == .own && merge.removedKeys == [])
        #expect(merge.keysOfVaultAlone.map(\.label) == ["late"] && merge.keysOfVaultAlone.map(\.number) == [5])
        #expect(merge.keysOfCopyAlone.map(\.label) == ["more"])
    }

    @Test func theKeyThatHasOpenedBothOpensNeitherAlone() throws {
        let late = fixture.folder.file("late.key")
        for keychain in [here, there] { try keychain.vaultKeys.addKeyFile(at: late, label: "late") }
        var location = here.location
        location.vault = fixture.folder.file("late.vault")
        location.keyFile = late
        location.rollbackMemory = nil
        try here.copies.backUp(to: location.vault)
        let merge = try merge(there, into: Keychain(at: location))
        #expect(merge.isWhole && merge.keys == .own)
        #expect([merge.keysOfVaultAlone, merge.keysOfCopyAlone].map { $0.map(\.label) } == [[], []])
        // The other one has opened neither, and has a name in each as before.
        #expect(try self.merge(there, into: here).keysOfVaultAlone.map(\.label) == ["late"])
    }
}
