import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import Vault

/// What opens a vault when its key file does not.
@Suite("Unlocking")
struct UnlockingTests {
    private let fixture: KeychainFixture
    private let keychain: Keychain

    init() throws {
        fixture = try KeychainFixture()
        keychain = try fixture.open()
        try keychain.set("a", to: "value")
    }

    // Every log of this process would be found open: each opening is by a file of its own.
    private func copied(_ places: VaultPlaces) throws -> VaultPlaces {
        var places = places
        places.vault = fixture.folder.file("copy.vault")
        try overwrite(places.vault, contents(fixture.places.vault))
        return places
    }

    private func error(_ places: VaultPlaces, _ options: Keychain.Options) throws -> VaultError? {
        do {
            let keychain = try Keychain(at: places, options: options)
            #expect(try keychain.text("a") == "value")
        } catch let error as VaultError { return error }
        return nil
    }

    private static var silent: Keychain.Options {
        var options = Keychain.Options()
        options.usesKernelKeyring = false
        return options
    }

    // MARK: Passphrases

    @Test func aPersonIsAskedUntilAPassphraseOpensTheVault() throws {
        try keychain.addPassphrase(secret("correct horse"))
        let places = try copied(fixture.elsewhere())
        let person = AskedPerson("wrong", "correct hors", "correct horse")
        #expect(try error(places, person.options) == nil)
        #expect(person.attempts == [1, 2, 3])
        let other = AskedPerson("wrong", nil, "correct horse")
        let refusal = try error(places, other.options)
        #expect(refusal?.code == .locked && refusal?.message == "Wrong passphrase for \(places.vault).")
        #expect(other.attempts == [1, 2])
    }

    @Test func aKeyFileThatOpensTheVaultAsksNobody() throws {
        try keychain.addPassphrase(secret("correct horse"))
        let person = AskedPerson("correct horse")
        #expect(try error(copied(fixture.places), person.options) == nil)
        #expect(person.attempts == [])
    }

    @Test func withoutAnybodyToAskTheVaultIsLocked() throws {
        let places = try copied(fixture.elsewhere())
        var refusal = try error(places, UnlockingTests.silent)
        #expect(refusal?.code == .locked && refusal?.message.contains("is missing") == true)
        try keychain.addPassphrase(secret("correct horse"))
        refusal = try error(copied(fixture.elsewhere()), UnlockingTests.silent)
        #expect(refusal?.code == .locked && refusal?.message.contains("passphrase") == true)
    }

    @Test func whatAskingThrowsComesOutUnchanged() throws {
        try keychain.addPassphrase(secret("correct horse"))
        var options = UnlockingTests.silent
        let own = VaultError(.unavailable, "The person has gone to lunch.", systemError: 4)
        options.passphrase = { (_) throws(VaultError) in throw own }
        let refusal = try error(copied(fixture.elsewhere()), options)
        #expect(refusal?.code == .unavailable && refusal?.message == own.message && refusal?.systemError == 4)
    }

    @Test func aPassphraseWithAKeyFileNeedsBoth() throws {
        let second = fixture.folder.file("second.key")
        try overwrite(second, Array("another file, of any kind".utf8))
        try keychain.addPassphrase(secret("correct horse"), withKeyFile: second)
        #expect(try keychain.vaultKeys().map(\.kind) == [.keyFile, .passphraseWithKeyFile])
        let both = try copied(fixture.elsewhere(keyFile: "second.key"))
        #expect(try error(both, AskedPerson("wrong", "correct horse").options) == nil)
        #expect(try error(both, AskedPerson("wrong").options)?.code == .locked)
        #expect(try error(copied(fixture.elsewhere()), AskedPerson("correct horse").options)?.code == .locked)
    }

    // MARK: Identities

    @Test func anIdentityOpensOnlyAVaultWhoseFingerprintIsKnown() throws {
        try keychain.addRecipient(PublishedIdentity.recipient, label: "colleague")
        #expect(try keychain.vaultKeys().last?.recipient == PublishedIdentity.recipient)
        let places = try copied(fixture.elsewhere(identity: PublishedIdentity.secret))
        let fingerprint = try keychain.fingerprint()
        var options = UnlockingTests.silent
        var refusal = try error(places, options)
        #expect(refusal?.code == .locked && refusal?.message.contains("The fingerprint of") == true)
        #expect(refusal?.message.contains(fingerprint) == true)

        options.fingerprint = String(fingerprint.reversed())
        refusal = try error(places, options)
        #expect(refusal?.code == .locked)
        #expect(refusal?.message.contains("is not the vault that this machine knows") == true)
        // Nothing was remembered by that.
        #expect(try error(places, UnlockingTests.silent)?.code == .locked)

        options.fingerprint = fingerprint.uppercased().replacingOccurrences(of: "-", with: "")
        #expect(try error(places, options) == nil)
        #expect(try error(places, UnlockingTests.silent) == nil)
    }

    /// Anyone can make another vault for a public key; its id is no secret either.
    @Test func anotherVaultOfThatIDIsRefusedOnceOneIsKnown() throws {
        try keychain.addRecipient(PublishedIdentity.recipient)
        var options = UnlockingTests.silent
        options.fingerprint = try keychain.fingerprint()
        var places = try copied(fixture.elsewhere(identity: PublishedIdentity.secret))
        #expect(try error(places, options) == nil)
        // The same vault under another data key is what such a vault looks like.
        try keychain.rotateDataKey()
        places = try copied(places)
        let refusal = try error(places, UnlockingTests.silent)
        #expect(refusal?.message.contains("is not the vault that this machine knows") == true)
        #expect(try error(places, options)?.code == .locked)
        options.fingerprint = try keychain.fingerprint()
        #expect(try error(places, options) == nil)
    }

    @Test func aPinInTheIdentityFileIsEnough() throws {
        try keychain.addRecipient(PublishedIdentity.recipient)
        let pin = try keychain.fingerprint()
        let places = try copied(
            fixture.elsewhere(identity: "# vault: \(pin)\n\(PublishedIdentity.secret)\n"))
        #expect(try error(places, UnlockingTests.silent) == nil)
        let others = try copied(
            fixture.elsewhere(identity: "# vault: \(String(pin.reversed()))\n\(PublishedIdentity.secret)\n"))
        #expect(try error(others, UnlockingTests.silent)?.code == .locked)
    }

    @Test func anIdentityThatIsMissingOrOfSomebodyElseIsTold() throws {
        try keychain.addRecipient(PublishedIdentity.recipient)
        var places = try copied(fixture.elsewhere())
        var refusal = try error(places, UnlockingTests.silent)
        #expect(refusal?.code == .locked && refusal?.message.contains("an identity of one of its recipients") == true)
        places.identityFile = fixture.folder.file("no such file")
        refusal = try error(places, UnlockingTests.silent)
        #expect(refusal?.code == .locked && refusal?.message.contains("cannot be read") == true)
        // Whoever opens the vault by its key file needs no identity, and knows it from then on.
        places.keyFile = fixture.places.keyFile
        #expect(try error(places, UnlockingTests.silent) == nil)
        places.keyFile = fixture.folder.file("none.key")
        try overwrite(fixture.folder.file("no such file"), Array(PublishedIdentity.secret.utf8))
        #expect(try error(places, UnlockingTests.silent) == nil)
    }

    // MARK: Commands

    /// Whoever can write the vault could name any command.
    @Test func aCommandRunsOnlyWhereAPersonHasAgreedToIt() throws {
        let (key, traces) = (fixture.folder.file("of the command"), fixture.folder.file("traces"))
        try overwrite(key, Array("what the device gives".utf8))
        let line = "echo run >> \(traces); cat '\(key)'"
        try keychain.addCommand(line, label: "device")
        #expect(try keychain.vaultKeys().last?.command == line)
        try FileManager.default.removeItem(atPath: traces)

        // This machine has agreed to it, another one has not.
        #expect(try error(copied(fixture.places(keyFile: "none.key")), UnlockingTests.silent) == nil)
        #expect(try contents(traces) == Array("run\n".utf8))
        var elsewhere = try copied(fixture.elsewhere())
        let refusal = try error(elsewhere, UnlockingTests.silent)
        #expect(refusal?.code == .locked && refusal?.message.contains("so it was not run") == true)
        #expect(refusal?.message.contains(line) == true)
        #expect(try contents(traces) == Array("run\n".utf8))

        // Who names it agrees to it, and to no other.
        elsewhere.keyCommand = line + " "
        #expect(try error(elsewhere, UnlockingTests.silent) == nil)
        elsewhere.keyCommand = nil
        #expect(try error(elsewhere, UnlockingTests.silent)?.code == .locked)
        elsewhere.keyCommand = line
        #expect(try error(elsewhere, UnlockingTests.silent) == nil)
        elsewhere.keyCommand = nil
        #expect(try error(elsewhere, UnlockingTests.silent) == nil)
    }

    @Test func aCommandThatFailsIsTold() throws {
        var places = fixture.places
        places.keyCommand = "exit 3"
        let refusal = try error(copied(places), UnlockingTests.silent)
        #expect(refusal?.code == .locked && refusal?.message.contains("The command for the key of") == true)
    }
}
