import Age
import SealedFormat
import TestSupport
import Testing

@testable import Vault

/// Who can open the vault once a member was removed.
@Suite("Removing members")
struct MemberRemovalTests {
    private let fixture: KeychainFixture
    private let mia: Keychain
    private let tom: Keychain
    /// Tom's laptop and phone, Mia's, and one of which nobody has said whose it is.
    private let recipients: (laptop: String, phone: String, mia: String, unknown: String)

    init() throws {
        fixture = try KeychainFixture()
        let made = try (0..<4).map { _ in try #require(try Identity.generate().recipient).text }
        recipients = (made[0], made[1], made[2], made[3])
        var location = fixture.location
        location.deviceKey = fixture.folder.file("mia.device")
        mia = try Keychain(at: location, creatingIfAbsent: true)
        location.deviceKey = fixture.folder.file("tom.device")
        tom = try Keychain(at: location)
        try mia.vaultKeys.addRecipient(recipients.unknown)
        try mia.members.add("mia", device: nil, recipient: recipients.mia)
        try mia.members.add("tom", device: tom.location.device(), recipient: recipients.laptop)
    }

    /// Adds Tom's phone, and returns its device.
    private func addPhone(_ recipient: String) throws -> String {
        var location = fixture.location
        location.deviceKey = fixture.folder.file("phone.device")
        let device = try location.device()
        try tom.members.add("tom", device: device, recipient: recipient)
        return device
    }

    private func shared(_ member: Keychain.Members.Removal) -> [String?] { member.sharedKeys.map(\.recipient) }

    private func recipientsLeft() throws -> [String?] { try mia.vaultKeys.all().map(\.recipient) }

    /// Adds somebody with a machine of their own, who opens the vault by it.
    private func add(_ name: String, by keychain: Keychain, recipient: String? = nil) throws -> Keychain {
        var location = fixture.location
        location.deviceKey = fixture.folder.file("\(name.utf8.count).\(name.hashValue).device")
        let other = try Keychain(at: location)
        try keychain.members.add(name, device: other.location.device(), recipient: recipient)
        return other
    }

    @Test func namesWhomTheMemberHasAddedAndWhomTheyHave() throws {
        let bob = try add("bob", by: tom)
        let eve = try add("eve", by: tom)
        _ = (try add("ann", by: eve), try add("zoe", by: mia), try add("ben", by: bob))
        let added = try mia.members.removal(of: "tom", device: nil, allowingNobody: false).added
        #expect(added.map(\.name) == ["bob", "eve", "ben", "ann"] && added.map(\.by) == ["tom", "tom", "bob", "eve"])
        #expect(try mia.members.removal(of: "zoe", device: nil, allowingNobody: false).added.isEmpty)
        // Those of the founder, who has added herself.
        #expect(try mia.members.removal(of: "mia", device: nil, allowingNobody: false).added.count == 6)
    }

    /// Names are told apart by the ones who read them.
    @Test(arguments: [" tom", "tom ", "to\u{200B}m", "\u{202E}tom", "to\u{2060}m", "t\u{A0}m", "Tom"])
    func nobodyGetsANameThatLooksLikeAnothers(name: String) throws {
        #expect(try VaultError.code { _ = try add(name, by: mia) } == .invalid)
        #expect(try mia.members.all().map(\.name) == ["mia", "tom"])
    }

    @Test(arguments: [("Zo\u{EB}", "Zoe\u{308}"), ("Zoe\u{308}", "Zo\u{EB}")])
    func equalCharactersOfOtherScalarsAreNoOtherName(names: (String, String)) throws {
        _ = try add(names.0, by: mia)
        let error = try VaultError.error { _ = try add(names.1, by: mia) }
        #expect(error?.message.contains("looks like another member's") == true)
        #expect(try mia.members.all().count == 3)
    }

    @Test func twoMembersHaveNoIdentityInCommon() throws {
        let error = try VaultError.error { _ = try add("ann", by: mia, recipient: recipients.laptop) }
        #expect(error?.code == .invalid && error?.message.contains("belongs to another member") == true)
        _ = try addPhone(recipients.laptop)
        #expect(try mia.members.all().map(\.machines.count) == [1, 2])
    }

    @Test func namesEachKeyThatIsNotAnothersOwn() throws {
        _ = try addPhone(recipients.phone)
        let member = try mia.members.removal(of: "tom", device: nil, allowingNobody: false)
        #expect(shared(member) == [nil, recipients.unknown])
        _ = try mia.members.remove(member)
        #expect(try recipientsLeft() == [nil, recipients.unknown, recipients.mia])
        #expect(try mia.members.all().map(\.name) == ["mia"])
    }

    @Test func ofADeviceNamesWhatMayBeOnIt() throws {
        let phone = try addPhone(recipients.phone)
        let member = try mia.members.removal(of: "tom", device: phone, allowingNobody: false)
        // What opens the vault on his laptop is on his laptop.
        #expect(shared(member) == [nil, recipients.unknown])
        _ = try mia.members.remove(member)
        #expect(try recipientsLeft() == [nil, recipients.unknown, recipients.mia, recipients.laptop])
        #expect(try mia.members.all().map(\.machines.count) == [1, 1])
    }

    /// One identity on both.
    @Test func ofADeviceNamesAnIdentityThatStays() throws {
        let phone = try addPhone(recipients.laptop)
        let member = try mia.members.removal(of: "tom", device: phone, allowingNobody: false)
        #expect(shared(member) == [nil, recipients.unknown, recipients.laptop])
        _ = try mia.members.remove(member)
        #expect(try recipientsLeft() == [nil, recipients.unknown, recipients.mia, recipients.laptop])
    }

    /// Nothing is done if a part of it cannot be.
    @Test func isOneChangeWithTheRotation() throws {
        let member = try mia.members.removal(of: "tom", device: nil, allowingNobody: false)
        let bytes = try contents(fixture.location.vault)
        let fingerprint = try mia.vaultKeys.fingerprint()
        try mia.vaultKeys.addKeyFile(at: fixture.folder.file("second.key"))
        let changed = try contents(fixture.location.vault)
        #expect(changed != bytes)
        let new = fixture.folder.file("new.key")
        #expect(
            try VaultError.code {
                _ = try mia.members.remove(
                    member, rotatingAndDropping: [], replacing: [try mia.vaultKeys.all()[0]], progress: nil
                ) { (key) throws(VaultError) in try key.number == 1 ? .keyFile(new) : nil }
            } == .locked)
        #expect(
            try contents(fixture.location.vault) == changed && mia.members.all().count == 2 && !fixture.isThere(new))
        let keys = try mia.vaultKeys.all()
        let rotation = try mia.members.remove(
            member, rotatingAndDropping: [keys[4]], replacing: [keys[0]], progress: nil
        ) { (key) throws(VaultError) in try .keyFile(new) }
        #expect(rotation.generatedKeyFiles == [new])
        #expect(try recipientsLeft() == [nil, recipients.unknown, recipients.mia])
        #expect(try mia.members.all().map(\.name) == ["mia"] && mia.vaultKeys.fingerprint() != fingerprint)
        #expect(try VaultError.code { _ = try Keychain(at: fixture.location) } == .locked)
        _ = try Keychain(at: fixture.location(keyFile: "new.key")).maintenance.verify()
    }
}
