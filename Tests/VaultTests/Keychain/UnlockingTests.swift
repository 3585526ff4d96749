import Foundation
import Glibc
import LinuxSystem
import SealedLog
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
    private func copied(_ location: VaultLocation) throws -> VaultLocation {
        var location = location
        location.vault = fixture.folder.file("copy.vault")
        try overwrite(location.vault, contents(fixture.location.vault))
        return location
    }

    private func error(_ location: VaultLocation, _ options: Keychain.Options) throws -> VaultError? {
        do {
            let keychain = try Keychain(at: location, options: options)
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
        try keychain.vaultKeys.addPassphrase(secret("correct horse"))
        let location = try copied(fixture.elsewhere())
        let person = AskedPerson("wrong", "correct hors", "correct horse")
        #expect(try error(location, person.options) == nil)
        #expect(person.attempts == [1, 2, 3])
        let other = AskedPerson("wrong", nil, "correct horse")
        let refusal = try error(location, other.options)
        #expect(refusal?.code == .locked && refusal?.message == "Wrong passphrase for \(location.vault).")
        #expect(other.attempts == [1, 2])
    }

    @Test func aKeyFileThatOpensTheVaultAsksNobody() throws {
        try keychain.vaultKeys.addPassphrase(secret("correct horse"))
        let person = AskedPerson("correct horse")
        #expect(try error(copied(fixture.location), person.options) == nil)
        #expect(person.attempts == [])
    }

    @Test func withoutAnybodyToAskTheVaultIsLocked() throws {
        let location = try copied(fixture.elsewhere())
        var refusal = try error(location, UnlockingTests.silent)
        #expect(refusal?.code == .locked && refusal?.message.contains("is missing") == true)
        try keychain.vaultKeys.addPassphrase(secret("correct horse"))
        refusal = try error(copied(fixture.elsewhere()), UnlockingTests.silent)
        #expect(refusal?.code == .locked && refusal?.message.contains("passphrase") == true)
    }

    @Test func whatAskingThrowsComesOutUnchanged() throws {
        try keychain.vaultKeys.addPassphrase(secret("correct horse"))
        var options = UnlockingTests.silent
        let own = VaultError(.unavailable, "The person has gone to lunch.", systemError: 4)
        options.passphrase = { (_) throws(VaultError) in throw own }
        let refusal = try error(copied(fixture.elsewhere()), options)
        #expect(refusal?.code == .unavailable && refusal?.message == own.message && refusal?.systemError == 4)
    }

    @Test func aPassphraseWithAKeyFileNeedsBoth() throws {
        let second = fixture.folder.file("second.key")
        try overwrite(second, Array("another file, of any kind".utf8))
        try keychain.vaultKeys.addPassphrase(secret("correct horse"), withKeyFile: second)
        #expect(try keychain.vaultKeys.all().map(\.kind) == [.keyFile, .passphraseWithKeyFile])
        let both = try copied(fixture.elsewhere(keyFile: "second.key"))
        #expect(try error(both, AskedPerson("wrong", "correct horse").options) == nil)
        #expect(try error(both, AskedPerson("wrong").options)?.code == .locked)
        #expect(try error(copied(fixture.elsewhere()), AskedPerson("correct horse").options)?.code == .locked)
    }

    // MARK: Identities

    @Test func anIdentityOpensOnlyAVaultWhoseFingerprintIsKnown() throws {
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient, label: "colleague")
        #expect(try keychain.vaultKeys.all().last?.recipient == PublishedIdentity.recipient)
        let location = try copied(fixture.elsewhere(identity: PublishedIdentity.secret))
        let fingerprint = try keychain.vaultKeys.fingerprint()
        var options = UnlockingTests.silent
        var refusal = try error(location, options)
        #expect(refusal?.code == .locked && refusal?.message.contains("The fingerprint of") == true)
        #expect(refusal?.message.contains(fingerprint) == true)

        options.fingerprint = String(fingerprint.reversed())
        refusal = try error(location, options)
        #expect(refusal?.code == .locked)
        #expect(refusal?.message.contains("does not have the expected fingerprint") == true)
        // Nothing was remembered by that.
        #expect(try error(location, UnlockingTests.silent)?.code == .locked)

        options.fingerprint = fingerprint.uppercased().replacingOccurrences(of: "-", with: "")
        #expect(try error(location, options) == nil)
        #expect(try error(location, UnlockingTests.silent) == nil)
    }

    /// Anyone can make another vault for a public key; its id is no secret either.
    @Test func anotherVaultOfThatIDIsRefusedOnceOneIsKnown() throws {
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        var options = UnlockingTests.silent
        options.fingerprint = try keychain.vaultKeys.fingerprint()
        var location = try copied(fixture.elsewhere(identity: PublishedIdentity.secret))
        #expect(try error(location, options) == nil)
        // The same vault under another data key is what such a vault looks like.
        try keychain.vaultKeys.rotateDataKey()
        location = try copied(location)
        let refusal = try error(location, UnlockingTests.silent)
        #expect(refusal?.message.contains("does not have the expected fingerprint") == true)
        #expect(try error(location, options)?.code == .locked)
        options.fingerprint = try keychain.vaultKeys.fingerprint()
        #expect(try error(location, options) == nil)
    }

    /// Another key file, which is missing, was never theirs; and nobody is told so who has never opened the vault.
    @Test func whoeverWasRemovedIsToldOfTheirIdentity() throws {
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        var options = UnlockingTests.silent
        options.fingerprint = try keychain.vaultKeys.fingerprint()
        let known = try copied(fixture.elsewhere(identity: PublishedIdentity.secret))
        #expect(try error(known, options) == nil)
        try keychain.vaultKeys.remove(keychain.vaultKeys.all()[1])
        var location = try copied(known)
        let identity = try #require(location.identityFile)
        var refusal = try error(location, UnlockingTests.silent)
        #expect(refusal?.code == .locked)
        #expect(refusal?.message.contains("Your identity \(identity) does not open \(location.vault)") == true)
        #expect(refusal?.message.contains(location.keyFile) == false)
        location.rollbackMemory = fixture.folder.file("state of somebody else")
        refusal = try error(location, UnlockingTests.silent)
        #expect(refusal?.message.contains("No identity opens") == true)
    }

    /// A laptop that was away while the data key was rotated: its copy is known by the key that was given up. One of
    /// which nothing is known may be anybody's.
    @Test func anIdentityOpensACopyUnderAFormerDataKeyToMergeIt() throws {
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        var options = UnlockingTests.silent
        options.fingerprint = try keychain.vaultKeys.fingerprint()
        let laptop = try copied(fixture.elsewhere(identity: PublishedIdentity.secret))
        try Keychain(at: laptop, options: options).set("b", to: "of the laptop")
        try keychain.vaultKeys.rotateDataKey()
        var desktop = try fixture.elsewhere(identity: PublishedIdentity.secret)
        desktop.vault = fixture.folder.file("desktop.vault")
        desktop.rollbackMemory = fixture.folder.file("state")
        try overwrite(desktop.vault, contents(fixture.location.vault))
        options.fingerprint = try keychain.vaultKeys.fingerprint()
        let merged = try Keychain(at: desktop, options: options)
        #expect(try merged.copies.merge(laptop.vault).refused == ["b"])
        let all = try merged.copies.merge(
            merged.copies.copy(at: laptop.vault), taking: .all, keepingKeys: [], progress: nil)
        #expect(all.changed == ["b"])
        // Two rotations apart from each other: neither has had the other one's data key.
        let other = fixture.folder.file("other.vault")
        try overwrite(other, contents(laptop.vault))
        var location = laptop
        location.vault = other
        location.identityFile = nil
        location.keyFile = fixture.location.keyFile
        try Keychain(at: location, options: UnlockingTests.silent).vaultKeys.rotateDataKey()
        let refusal = try VaultError.error { try merged.copies.merge(other) }
        #expect(refusal?.code == .locked && refusal?.message.contains("does not have the expected fingerprint") == true)
        #expect(refusal?.message.contains(other) == true)
    }

    @Test func aPinInTheIdentityFileIsEnough() throws {
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        let pin = try keychain.vaultKeys.fingerprint()
        let location = try copied(
            fixture.elsewhere(identity: "# vault: \(pin)\n\(PublishedIdentity.secret)\n"))
        #expect(try error(location, UnlockingTests.silent) == nil)
        let others = try copied(
            fixture.elsewhere(identity: "# vault: \(String(pin.reversed()))\n\(PublishedIdentity.secret)\n"))
        #expect(try error(others, UnlockingTests.silent)?.code == .locked)
    }

    /// Root only reads another user's identity.
    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func aPinInAnotherUsersIdentityFileIsNotBelieved() throws {
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        let pin = try keychain.vaultKeys.fingerprint()
        let location = try copied(
            fixture.elsewhere(identity: "# vault: \(pin)\n\(PublishedIdentity.secret)\n"))
        let file = fixture.folder.file("identity")
        try #require(chown(file, 65_534, 65_534) == 0)
        let refusal = try error(location, UnlockingTests.silent)
        #expect(refusal?.code == .locked && refusal?.message.contains("\(file) belongs to another user") == true)
        var options = UnlockingTests.silent
        options.fingerprint = pin
        #expect(try error(location, options) == nil)
    }

    /// It is made here, so nobody could compare the one that its first use would ask for.
    @Test(arguments: [true, false]) func theCopyOfASalvageNeedsNoFingerprint(isPinnedByFile: Bool) throws {
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        let pin = isPinnedByFile ? "# vault: \(try keychain.vaultKeys.fingerprint())\n" : ""
        var location = try copied(fixture.elsewhere(identity: "\(pin)\(PublishedIdentity.secret)\n"))
        var options = UnlockingTests.silent
        options.fingerprint = try keychain.vaultKeys.fingerprint()
        #expect(try error(location, options) == nil)
        let copy = fixture.folder.file("salvaged.vault")
        _ = try Keychain.Maintenance.salvage(from: location, to: copy, options: UnlockingTests.silent)
        location.vault = copy
        #expect(try error(location, UnlockingTests.silent) == nil)
    }

    @Test func anIdentityThatIsMissingOrOfSomebodyElseIsTold() throws {
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        var location = try copied(fixture.elsewhere())
        var refusal = try error(location, UnlockingTests.silent)
        #expect(refusal?.code == .locked && refusal?.message.contains("identity of one of its recipients") == true)
        location.identityFile = fixture.folder.file("no such file")
        refusal = try error(location, UnlockingTests.silent)
        #expect(refusal?.code == .locked && refusal?.message.contains("no such file cannot be read") == true)
        // Whoever opens the vault by its key file needs no identity, and knows it from then on.
        location.keyFile = fixture.location.keyFile
        #expect(try error(location, UnlockingTests.silent) == nil)
        location.keyFile = fixture.folder.file("none.key")
        try overwrite(fixture.folder.file("no such file"), Array(PublishedIdentity.secret.utf8))
        #expect(try error(location, UnlockingTests.silent) == nil)
    }

    // MARK: Commands

    /// Whoever can write the vault could name any command.
    @Test func aCommandRunsOnlyWhereAPersonHasAgreedToIt() throws {
        let key = fixture.folder.file("of the command")
        let traces = fixture.folder.file("traces")
        try overwrite(key, Array("what the device gives".utf8))
        let line = "echo run >> \(traces); cat '\(key)'"
        try keychain.vaultKeys.addCommand(line, label: "device")
        #expect(try keychain.vaultKeys.all().last?.command == line)
        try FileManager.default.removeItem(atPath: traces)

        // This machine has agreed to it, another one has not.
        #expect(try error(copied(fixture.location(keyFile: "none.key")), UnlockingTests.silent) == nil)
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
        var location = fixture.location
        location.keyCommand = "exit 3"
        let refusal = try error(copied(location), UnlockingTests.silent)
        #expect(refusal?.code == .locked && refusal?.message.contains("The command for the key of") == true)
    }

    @Test func aRotationRunsNoCommandThatNobodyHasAgreedTo() throws {
        let key = fixture.folder.file("of the command")
        let traces = fixture.folder.file("traces")
        try overwrite(key, Array("what the device gives".utf8))
        try keychain.vaultKeys.addCommand("echo run >> '\(traces)'; cat '\(key)'")
        try FileManager.default.removeItem(atPath: traces)
        var location = try copied(fixture.elsewhere())
        location.keyFile = fixture.location.keyFile
        let elsewhere = try Keychain(at: location, options: UnlockingTests.silent)
        let refusal = try VaultError.error { try elsewhere.vaultKeys.rotateDataKey() }
        #expect(refusal?.code == .locked && refusal?.message.contains("not been approved on this machine") == true)
        #expect(!fixture.isThere(traces))
        try elsewhere.vaultKeys.rotateDataKey(dropping: [elsewhere.vaultKeys.all()[1]])
        #expect(!fixture.isThere(traces))
        // Here the person has added it.
        try keychain.vaultKeys.rotateDataKey()
        #expect(try contents(traces) == Array("run\n".utf8))
    }

    @Test func eachOfSeveralCommandsRunsWhereItWasAdded() throws {
        let files = ["first", "second"].map(fixture.folder.file)
        for file in files {
            try overwrite(file, Array("what \(file) gives".utf8))
            try keychain.vaultKeys.addCommand("cat '\(file)'")
        }
        for file in files {
            try FileManager.default.moveItem(atPath: file, toPath: file + " is away")
            #expect(try error(copied(fixture.location(keyFile: "none.key")), UnlockingTests.silent) == nil)
            try FileManager.default.moveItem(atPath: file + " is away", toPath: file)
        }
    }

    // MARK: Several ways

    /// Whatever is away or broken, a key that is at hand opens the vault.
    @Test func noWayThatFailsKeepsAnotherFromOpeningTheVault() throws {
        try keychain.vaultKeys.addPassphrase(secret("correct horse"))
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        let damaged = fixture.folder.file("damaged.key")
        try overwrite(damaged, Array("# vault key file: cut".utf8))
        let identity = fixture.folder.file("identity")
        try overwrite(identity, Array("no identity".utf8))
        for (keyFile, command, identities) in [
            (damaged, nil, nil), (nil, "exit 3", nil), (nil, nil, "nowhere"), (damaged, nil, identity),
        ] as [(String?, String?, String?)] {
            var location = try copied(fixture.elsewhere())
            if let keyFile { location.keyFile = keyFile }
            location.keyCommand = command
            location.identityFile = identities
            let person = AskedPerson("correct horse")
            #expect(try error(location, person.options) == nil, "\(location)")
            #expect(person.attempts == [1])
            #expect(try error(location, UnlockingTests.silent)?.code == .locked)
        }
    }

    @Test func aKeyFileThatIsDamagedIsReportedWhateverOpensTheVault() throws {
        try keychain.vaultKeys.addPassphrase(secret("correct horse"))
        var location = try copied(fixture.elsewhere())
        location.keyFile = fixture.folder.file("damaged.key")
        try overwrite(location.keyFile, Array("# vault key file: cut".utf8))
        let reported = Mutex<[VaultError]>([])
        let failures = FailureLog { error, _ in reported.withLock { $0.append(error) } }
        let opened = try Keychain(at: location, options: AskedPerson("correct horse").options, failures: failures)
        #expect(try opened.text("a") == "value")
        #expect(reported.withLock { $0.map(\.code) } == [.locked])
        #expect(reported.withLock { $0.first?.message.contains("mistyped, truncated or altered") } == true)
    }

    @Test func whatElseWouldOpenTheVaultIsTold() throws {
        try keychain.vaultKeys.addPassphrase(secret("correct horse"))
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        var location = try copied(fixture.elsewhere())
        try overwrite(location.keyFile, Array("another vault's".utf8))
        let refusal = try error(location, UnlockingTests.silent)
        let words = ["\(location.keyFile) does not open", "The passphrase of", "An age identity of"]
        for word in words { #expect(refusal?.message.contains(word) == true, "\(word)") }
        #expect(refusal?.causes == [.keyWrong, .passphraseNeeded, .identityMissing])
        // Without a key file among its keys, nothing is said of one.
        try keychain.vaultKeys.addKeyFile(at: fixture.folder.file("k"))
        let keys = try keychain.vaultKeys.all()
        location = try copied(fixture.elsewhere())
        let opened = try Keychain(at: location, options: AskedPerson("correct horse").options)
        for key in [keys[0], keys[3]] { try opened.vaultKeys.remove(key) }
        let bytes = try contents(location.vault)
        location.vault = fixture.folder.file("another copy.vault")
        try overwrite(location.vault, bytes)
        #expect(try error(location, UnlockingTests.silent)?.message.contains("needs its passphrase") == true)
    }

    @Test func anIdentityFileThatOthersCanReadOrWriteIsRefused() throws {
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        var options = UnlockingTests.silent
        options.fingerprint = try keychain.vaultKeys.fingerprint()
        let location = try copied(fixture.elsewhere(identity: PublishedIdentity.secret))
        for mode in [0o640, 0o604, 0o620, 0o602, 0o666] {
            try setMode(fixture.folder.file("identity"), mode)
            // Root's own could be readable to others where secrets are mounted; nobody's may be writable.
            guard geteuid() != 0 || mode & 0o022 != 0 else { continue }
            let refusal = try error(location, options)
            #expect(refusal?.message.contains("chmod 600") == true, "\(String(mode, radix: 8))")
        }
        try setMode(fixture.folder.file("identity"), 0o600)
        #expect(try error(location, options) == nil)
    }

    // MARK: Trust

    @Test func aFingerprintThatIsGivenHoldsForEveryKey() throws {
        var options = UnlockingTests.silent
        options.fingerprint = try keychain.vaultKeys.fingerprint()
        #expect(try error(copied(fixture.location), options) == nil)
        options.fingerprint = String(try keychain.vaultKeys.fingerprint().reversed())
        #expect(try error(copied(fixture.location), options)?.message.contains("expected fingerprint") == true)
    }

    /// Restoring an old copy must not make its former key the one that is trusted.
    @Test func aVaultThatRaisesAnAlarmIsNotTrusted() throws {
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        let former = try contents(fixture.location.vault)
        try keychain.vaultKeys.rotateDataKey()
        let trust = try #require(
            FileManager.default.contentsOfDirectory(atPath: fixture.folder.file("state")).first {
                $0.hasSuffix(".trust")
            })
        let bytes = try contents(fixture.folder.file("state/\(trust)"))
        try replace(fixture.location.vault, with: former)
        #expect(try VaultError.code { _ = try Keychain(at: fixture.location) } == .rolledBack)
        #expect(try contents(fixture.folder.file("state/\(trust)")) == bytes)
    }

    @Test func aMemoryThatCannotBeWrittenIsReportedAndKeepsNobodyOut() throws {
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        let state = fixture.folder.file("state elsewhere")
        var location = try copied(fixture.elsewhere())
        location.keyFile = fixture.location.keyFile
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        try setMode(state, 0o777)
        let reported = Mutex<[VaultError]>([])
        let failures = FailureLog { error, _ in reported.withLock { $0.append(error) } }
        let opened = try Keychain(at: location, options: UnlockingTests.silent, failures: failures)
        #expect(try opened.text("a") == "value")
        #expect(reported.withLock { $0.contains { $0.message.contains("has recorded about the vault is unusable") } })
    }

    // MARK: The kernel's keyring

    @Test func whatUnlockLeavesOpensTheVaultUntilItIsLocked() throws {
        try keychain.vaultKeys.addPassphrase(secret("correct horse"))
        let location = try copied(fixture.elsewhere())
        let refusal = try VaultError.error { try keychain.vaultKeys.unlock(for: .seconds(60)) }
        if let refusal {
            // As in a container: the library says why.
            #expect(refusal.code == .unavailable && refusal.message.hasSuffix("will ask for its secret each time."))
            print("not tested: \(refusal.message)")
            return
        }
        defer { _ = try? Keychain.VaultKeys.lock(at: location) }
        var options = Keychain.Options()
        #expect(try error(location, options) == nil)
        options.usesKernelKeyring = false
        #expect(try error(copied(location), options)?.code == .locked)
        #expect(try Keychain.VaultKeys.lock(at: location))
        #expect(try error(copied(location), Keychain.Options())?.code == .locked)
        #expect(try !Keychain.VaultKeys.lock(at: location))
    }

    /// The device that the command asks may be away meanwhile.
    @Test func aVaultThatIsUnlockedRunsNoCommand() throws {
        let key = fixture.folder.file("of the command")
        let traces = fixture.folder.file("traces")
        try overwrite(key, Array("what the device gives".utf8))
        let line = "echo run >> '\(traces)'; cat '\(key)'"
        try keychain.vaultKeys.addCommand(line)
        try FileManager.default.removeItem(atPath: traces)
        if let refusal = try VaultError.error({ try keychain.vaultKeys.unlock(for: .seconds(60)) }) {
            print("not tested: \(refusal.message)")
            return
        }
        var location = try copied(fixture.elsewhere())
        defer { _ = try? Keychain.VaultKeys.lock(at: location) }
        location.keyCommand = line
        #expect(try error(location, Keychain.Options()) == nil)
        #expect(!fixture.isThere(traces))
    }

    @Test func aPinInTheIdentityFileCountsForAVaultThatIsUnlockedToo() throws {
        try keychain.vaultKeys.addRecipient(PublishedIdentity.recipient)
        let pin = try keychain.vaultKeys.fingerprint()
        let location = try copied(fixture.elsewhere(identity: "# vault: \(pin)\n\(PublishedIdentity.secret)\n"))
        let opened = try Keychain(at: location, options: UnlockingTests.silent)
        if let refusal = try VaultError.error({ try opened.vaultKeys.unlock(for: .seconds(60)) }) {
            print("not tested: \(refusal.message)")
            return
        }
        defer { _ = try? Keychain.VaultKeys.lock(at: location) }
        #expect(try error(copied(location), Keychain.Options()) == nil)
    }
}
