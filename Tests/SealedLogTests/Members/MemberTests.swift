import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

@Suite("Members")
struct MemberTests {
    private let vault: SharedVault
    private let fixture: LogFixture
    private let mia: DeviceKey
    private let tom: DeviceKey

    init() throws {
        vault = try SharedVault()
        fixture = vault.fixture
        mia = vault.mia
        tom = vault.tom
    }

    private func open(
        _ path: String? = nil, as key: DeviceKey?, remembering: Bool = false, accepting: [LogError.Code] = [],
        in files: any FileSystem = PosixFileSystem()
    ) throws -> SealedLog {
        try vault.open(path, as: key, remembering: remembering, accepting: accepting, in: files)
    }

    private func founded(remembering: Bool = false) throws -> SealedLog { try vault.founded(remembering: remembering) }

    /// Otherwise a power loss that brings the former file back would make the removal seem to be missing.
    @Test func aRemovalIsRememberedBehindTheFlushOfTheFilesName() throws {
        try founded(remembering: true).set("a", "1")
        try open(as: mia).changeMembers { (members) throws(LogError) in
            try members.remove("tom", signedBy: mia)
        }
        let files = FaultyFileSystem()
        let log = try open(as: mia, remembering: true, in: files)
        func remembered() throws -> Int? {
            try log.memory?.members { () throws(LogError) in [] }.landmarks.count
        }
        #expect(try remembered() == 1)
        files.fail([.synchronize], with: .error(EIO))
        #expect(try LogError.code { try log.set("a", "2") } == .unavailable)
        #expect(try remembered() == 1)
        try log.set("a", "3")
        #expect(try remembered() == 2)
    }

    /// A process that has read the former file compares its members with what another one remembers meanwhile.
    @Test(arguments: [FileCall.read, .lock]) func aRemovalThatIsRememberedMeanwhileIsNoAlarmAndStays(
        _ call: FileCall
    ) throws {
        try founded(remembering: true).set("a", "1")
        // At the lock, this machine has remembered nothing yet, and is about to.
        if call == .lock { try FileManager.default.removeItem(atPath: membersFile()) }
        let files = FaultyFileSystem()
        let log = try open(as: mia, remembering: true, in: files)
        #expect(try log.text("a") == "1")
        let hasRemoved = Flag()
        files.watch(call) { call in
            guard call.path.hasSuffix(".members"), !hasRemoved.isSet else { return }
            hasRemoved.set()
            let other = try? open(as: mia, remembering: true)
            try? other?.changeMembers { (members) throws(LogError) in
                try members.remove("tom", signedBy: mia)
            }
            try? other?.set("a", "2")
        }
        #expect(try log.members().members.map(\.name) == (call == .read ? ["mia"] : ["mia", "tom"]))
        #expect(hasRemoved.isSet)
        #expect(try log.memory?.members { () throws(LogError) in [] }.landmarks.count == 2)
        #expect(try open(as: mia, remembering: true).members().members.map(\.name) == ["mia"])
    }

    private func membersFile() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.memory)
        return fixture.memory + "/" + (try #require(names.first { $0.hasSuffix(".members") }))
    }

    // MARK: Signatures

    @Test func eachChangeSaysWhoHasMadeIt() throws {
        let log = try founded()
        try log.set("a", "1")
        let other = try open(as: tom)
        try other.set("a", "2")
        try log.remove("a")
        try log.set("before", "2")
        func expectAuthors() throws {
            // The first "before" is older than the members. Changes of two names may have the same time.
            #expect(try log.authors(of: "a") == [#"member("mia")"#, #"member("tom")"#, #"member("mia")"#])
            #expect(try log.authors(of: "before") == ["nobody", #"member("mia")"#])
        }
        try expectAuthors()
        #expect(try other.verify().unsigned == [])
        try log.compact()
        let keys = log.keys
        _ = try log.changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in
            try table.rotate { (_) throws(LogError) in throw LogError(.conflict) }
        }
        #expect(log.keys !== keys)
        try expectAuthors()
        try open(as: nil).verify()
    }

    @Test func whoRestoresAValueSignsIt() throws {
        let log = try founded()
        try log.set("before", "2")
        let other = try open(as: tom)
        try other.make(changes: [other.restoring("before", 0)])
        #expect(try other.text("before") == "1")
        #expect(try log.authors(of: "before") == [#"member("mia")"#, #"member("tom")"#])
        try log.verify()
    }

    @Test func whoeverIsNoMemberChangesNothing() throws {
        let log = try founded()
        let stranger = try DeviceKey(.generate())
        for key in [stranger, nil] {
            let other = try open(as: key)
            #expect(throws: LogError(.notMember, key?.device.text ?? "")) { try other.set("a", "1") }
            #expect(throws: LogError(.notMember, key?.device.text ?? "")) {
                _ = try other.changeKeys(timeout: SealedLog.patience) { $0.history = .none }
            }
            #expect(try LogError.code { try vault.addMembers(to: other) } == .notMember)
            #expect(try other.text("before") == "1")
            try other.compact()
        }
        #expect(try log.text("a") == nil)
        try log.set("a", "1")
    }

    /// Whoever has the data key can write any entry, but sign for nobody else.
    @Test(arguments: ["author", "time", "attributes", "value", "name"]) func nobodyWritesInAnothersName(
        _ what: String
    ) throws {
        let log = try founded()
        try log.set("a", "1")
        try log.set("b", "2")
        var forged = try #require(try log.history(.sample("a")))
        let authorship = try #require(forged.authorship)
        switch what {
        case "author":
            forged.authorship = Authorship(
                author: tom.device.id, seen: authorship.seen, signature: authorship.signature)
        case "attributes": forged.content?.attributes = [Attribute(key: "user", value: "tom")]
        case "value": forged.content?.current = try #require(try log.history(.sample("b"))?.content?.current)
        default:
            forged = Entry(
                name: try .sample(what == "name" ? "c" : "a"), modified: forged.modified + (what == "time" ? 1 : 0),
                content: forged.content, authorship: authorship)
        }
        try log.write(forged)
        #expect(try LogError.code { try log.verify() } == .damaged)
        #expect(try LogError.code { _ = try log.loggedChanges() } == .damaged)
        #expect(try LogError.code { _ = try log.authors(of: forged) } == .damaged)
    }

    @Test func whatNobodyHasSignedIsFound() throws {
        let log = try founded()
        var entry = try #require(try log.history(.sample("before")))
        entry.sequence = log.view.withLock { $0.head.sequence } + 1
        try log.write(entry)
        #expect(try log.verify().unsigned == ["before"])
    }

    @Test func aSalvagedVaultHasNoMembers() throws {
        let log = try founded()
        try log.set("a", "1")
        var salvaged = try #require(try log.history(.sample("a")))
        #expect(salvaged.authorship != nil)
        let target = fixture.folder.file("salvaged.vault")
        var unlocker = KeyFileUnlocker(fixture.key)
        _ = try SealedLog.salvage(
            fixture.location, to: FileLocation(target, in: PosixFileSystem()), with: &unlocker,
            options: fixture.options(),
            nil)
        let copy = try open(target, as: nil)
        salvaged = try #require(try copy.history(.sample("a")))
        #expect(salvaged.authorship == nil)
        try copy.set("a", "2")
        try copy.verify()
    }

    // MARK: Two histories

    @Test func aStateOfAnotherHistoryIsFoundUnlessTheTwoWereMerged() throws {
        let log = try founded()
        let fork = fixture.folder.file("fork.vault")
        try overwrite(fork, fixture.bytes)
        let other = try open(fork, as: tom)
        try log.set("a", "1")
        try other.set("b", "2")
        try other.set("c", "3")
        let before = try fixture.bytes
        // Somebody with the data key joins them, and leaves no trace in the history.
        let entry = try #require(try other.history(.sample("c")))
        let box = try #require(entry.content).current
        let sealed = try other.view.withLock { try $0.sealed(box) }
        try log.write(entry, [Array(sealed.box)])
        #expect(try log.text("c") == "3")
        #expect(try log.verify().foreign == ["c"])
        try overwrite(fixture.path, before)
        let merged = try open(as: mia)
        _ = try merged.merge(other, timeout: SealedLog.patience)
        #expect(try merged.text("c") == "3")
        let report = try merged.verify()
        #expect(report.foreign == [] && report.unsigned == [])
        #expect(try merged.authors(of: "c") == [#"member("tom")"#])
    }

    @Test func mergedCopiesHaveTheMembersOfBoth() throws {
        let log = try founded()
        let other = try vault.forked(as: tom)
        let ann = try DeviceKey(.generate())
        let eve = try DeviceKey(.generate())
        try other.changeMembers { (members) throws(LogError) in try members.add("ann", ann.device, signedBy: tom) }
        try log.changeMembers { (members) throws(LogError) in try members.add("eve", eve.device, signedBy: mia) }
        _ = try log.merge(other, timeout: SealedLog.patience)
        _ = try other.merge(log, timeout: SealedLog.patience)
        #expect(try Set(MemberTests.names(log)) == ["mia", "tom", "ann", "eve"])
        #expect(try MemberTests.names(other) == MemberTests.names(log))
        #expect(try other.members().records == log.members().records)
        try log.verify()
    }

    /// Whoever is removed on one side has added nobody on the other one, whatever the clocks say.
    @Test func whoIsRemovedHasAddedNobodyMeanwhile() throws {
        let log = try founded()
        let other = try vault.forked(as: tom)
        let ann = try DeviceKey(.generate())
        try other.changeMembers { (members) throws(LogError) in try members.add("ann", ann.device, signedBy: tom) }
        try open(other.view.withLock { $0.store.path }, as: ann).set("d of ann", "3")
        try other.set("c", "2")
        try log.changeMembers { (members) throws(LogError) in try members.remove("tom", signedBy: mia) }
        var report = try log.merge(other, timeout: SealedLog.patience)
        #expect(report.refused == ["c", "d of ann"] && report.changed == [])
        #expect(report.members == MemberDifferences(thereAlone: ["tom", "ann"]))
        #expect(try MemberTests.names(log) == ["mia"])
        #expect(try log.text("c") == nil)
        // On the other side, the removal arrives later than what it has made void, and a person has to say that it is
        // right.
        report = try other.merge(log, timeout: SealedLog.patience)
        #expect(report.refused == ["c", "d of ann"] && report.refusesOwn && report.changed == [])
        #expect(try MemberTests.names(other) == ["mia", "tom", "ann"])
        #expect(report.members == MemberDifferences())
        #expect(throws: LogError(.notMember, tom.device.text)) {
            try other.merge(log, taking: .all, timeout: SealedLog.patience)
        }
        let mias = try open(other.view.withLock { $0.store.path }, as: mia)
        report = try mias.merge(log, taking: .all, timeout: SealedLog.patience)
        #expect(report.members == MemberDifferences(removed: ["tom", "ann"]))
        #expect(try MemberTests.names(other) == ["mia"])
        #expect(throws: LogError(.notMember, tom.device.text)) { try other.set("c", "3") }
        // A person has taken them over.
        #expect(try mias.authors(of: "d of ann") == [#"member("mia")"#])
        report = try log.merge(mias, timeout: SealedLog.patience)
        #expect(report.refused == [] && report.changed == ["c", "d of ann"])
        for each in [log, mias] { #expect(try each.verify().ofNonMembers == []) }
        #expect(try log.authors(of: "c") == [#"member("mia")"#])
        try log.verify()
    }

    private static func names(_ log: SealedLog) throws -> [String] { try log.members().members.map(\.name) }

    // MARK: Removal

    @Test func aRemovedMemberChangesNothingAnyMore() throws {
        let log = try founded()
        let other = try open(as: tom)
        try other.set("a", "1")
        try log.changeMembers { (members) throws(LogError) in try members.remove("tom", signedBy: mia) }
        #expect(throws: LogError(.notMember, tom.device.text)) { try other.set("a", "2") }
        #expect(try log.authors(of: "a") == [#"member("tom")"#])
        // What he signs all the same is told from what he signed before.
        try log.write(late(log))
        #expect(try log.authors(of: "late") == [#"removed("tom")"#])
        #expect(try log.verify().ofNonMembers == ["late"])
    }

    /// An entry that Tom signs now.
    private func late(_ log: SealedLog) throws -> Entry {
        let seen = log.view.withLock { $0.head }
        var entry = try Entry.tombstone("late", modified: Clock.milliseconds + 1_000)
        entry.authorship = try StateSigner(key: tom, vaultID: log.vaultID, seen: seen).authorship(of: entry, nil)
        return entry
    }

    /// Who was removed and has the data key writes a file in which that never happened.
    @Test func aRemovalThatIsMissingIsNoticed() throws {
        let log = try founded(remembering: true)
        try log.changeMembers { (members) throws(LogError) in try members.remove("tom", signedBy: mia) }
        try log.set("a", "1")
        let attacker = try open(as: tom)
        try attacker.forge(members: attacker.members().records.dropLast())
        try attacker.set("a", "of Tom")
        #expect(try LogError.code { try log.set("a", "2") } == .diverged)
        #expect(try LogError.code { _ = try log.members() } == .diverged)
        #expect(try LogError.code { try open(as: mia, remembering: true).set("a", "2") } == .diverged)
        #expect(try LogError.code { _ = try open(as: mia, remembering: true).verify(timeout: .zero) } == .diverged)
        // Nobody who has not seen the removal can miss it.
        _ = try open(as: mia).verify(timeout: .zero)
        // Somebody who knows better accepts it once.
        let accepting = try open(as: mia, remembering: true, accepting: [.diverged])
        try accepting.set("a", "3")
        try open(as: mia, remembering: true).set("a", "4")
    }

    @Test func membersThatAreMissingAltogetherAreNoticed() throws {
        let log = try founded(remembering: true)
        try log.set("a", "1")
        try open(as: nil).forge(members: [])
        #expect(try LogError.code { try open(as: nil, remembering: true).set("a", "2") } == .diverged)
    }

    @Test func whoPutsAnotherFirstMemberBeforeTheRestIsNoticed() throws {
        let log = try founded(remembering: true)
        let eve = try DeviceKey(.generate())
        let head = LogPosition(sequence: 1, authenticator: .zero)
        let change = MemberChange(isRemoval: false, time: 1, name: "eve", device: eve.device, recipient: "", known: [])
        let first = MemberRecord(
            change: change, authorship: try eve.sign(Statement(change, in: log.vaultID), after: head))
        try open(as: nil).forge(members: [first])
        #expect(try LogError.code { try log.set("a", "1") } == .diverged)
        #expect(try open(as: eve).members().members.map(\.name) == ["eve"])
    }

    /// Two lists that were merged may name a device twice, and a member's name by somebody else.
    @Test func anAdditionChangesNoMemberThatIsThere() throws {
        let id = RandomBytes.array(16)
        let head = LogPosition(sequence: 1, authenticator: .zero)
        var list = try MemberList([], in: id, at: head)
        try list.add("mia", mia.device, signedBy: mia)
        try list.add("tom", tom.device, signedBy: mia)
        let eve = try DeviceKey(.generate())
        let additions = [("mia", eve.device), ("tom", mia.device)].map { name, device in
            MemberChange(
                isRemoval: false, time: .max, name: name, device: device, recipient: "", known: list.history.heads)
        }
        let records = try additions.map { change in
            MemberRecord(change: change, authorship: try tom.sign(Statement(change, in: id), after: head))
        }
        let joined = try MemberList(list.records + records, in: id, at: head)
        #expect(joined.members == list.members)
        #expect(!joined.isMember(eve.device))
    }

    @Test func whatIsRememberedOfMembersLastsThroughARotation() throws {
        let log = try founded(remembering: true)
        try log.changeMembers { (members) throws(LogError) in try members.remove("tom", signedBy: mia) }
        let records = Array(try log.members().records.dropLast())
        _ = try open(as: mia).changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in
            try table.rotate { (_) throws(LogError) in throw LogError(.conflict) }
        }
        try open(as: nil).forge(members: records)
        #expect(try LogError.code { try open(as: mia, remembering: true).set("a", "2") } == .diverged)
    }

    @Test func moreChangesOfMembersThanAVaultHasRoomForAreRefused() throws {
        let log = try founded()
        var records = try log.members().records
        let head = log.view.withLock { $0.head }
        for _ in 0..<128 {
            let longest = MemberChange(
                isRemoval: false, time: .max, name: "x", device: tom.device,
                recipient: String(repeating: "x", count: SlotLabel.recipientSize), known: records.suffix(1).map(\.id))
            let authorship = try mia.sign(Statement(longest, in: log.vaultID), after: head)
            records.append(MemberRecord(change: longest, authorship: authorship))
        }
        #expect(try LogError.code { try open(as: nil).forge(members: records) } == .invalid)
        try log.set("a", "1")
    }

    // MARK: The list

    @Test func theFirstMemberIsWhoeverAddsItAndTheLastOneStays() throws {
        var list = try MemberList([], in: RandomBytes.array(16), at: LogPosition(sequence: 1, authenticator: .zero))
        #expect(try LogError.code { try list.add("tom", tom.device, signedBy: mia) } == .invalid)
        try list.add("mia", mia.device, signedBy: mia)
        #expect(try LogError.code { try list.add("tom", tom.device, signedBy: tom) } == .notMember)
        #expect(try LogError.code { try list.add("twice", mia.device, signedBy: mia) } == .invalid)
        #expect(try LogError.code { try list.add("a\nb", tom.device, signedBy: mia) } == .invalid)
        #expect(try LogError.code { _ = try list.remove("mia", signedBy: mia) } == .lastMember)
        #expect(try LogError.code { _ = try list.remove("tom", signedBy: mia) } == .invalid)
        try list.add("tom", tom.device, recipient: "age1x", signedBy: mia)
        let second = try DeviceKey(.generate())
        // Nobody gets into another's name.
        #expect(try LogError.code { try list.add("tom", second.device, signedBy: mia) } == .invalid)
        #expect(try LogError.code { try list.add("mia", second.device, signedBy: tom) } == .invalid)
        try list.add("tom", second.device, signedBy: tom)
        #expect(list.members.map(\.machines.count) == [1, 2])
        #expect(list.members.map(\.addedBy) == ["mia", "mia"])
        #expect(try list.remove("tom", signedBy: second).lostRecipients == ["age1x"])
        #expect(list.members.map(\.name) == ["mia"])
        #expect(!list.isMember(tom.device) && !list.isMember(second.device))
        try list.add("tom again", tom.device, signedBy: mia)
        #expect(list.isMember(tom.device))
    }

    @Test func aDeviceOfAMemberIsRemovedAlone() throws {
        var list = try MemberList([], in: RandomBytes.array(16), at: LogPosition(sequence: 1, authenticator: .zero))
        let laptop = try DeviceKey(.generate())
        let phone = try DeviceKey(.generate())
        try list.add("mia", mia.device, recipient: "age1mia", signedBy: mia)
        try list.add("tom", tom.device, recipient: "age1tom", signedBy: mia)
        try list.add("tom", laptop.device, recipient: "age1laptop", signedBy: tom)
        try list.add("tom", phone.device, recipient: "age1tom", signedBy: tom)
        let records = list.records
        #expect(try LogError.code { _ = try list.remove("mia", device: tom.device, signedBy: mia) } == .invalid)
        #expect(try LogError.code { _ = try list.removal(of: "ann", device: tom.device) } == .invalid)
        #expect(list.records == records)
        let removal = try list.removal(of: "tom", device: laptop.device)
        #expect(removal.recipients == ["age1laptop"] && removal.otherRecipients == ["age1mia", "age1tom"])
        #expect(try list.remove("tom", device: laptop.device, signedBy: mia).lostRecipients == ["age1laptop"])
        #expect(list.members.map(\.name) == ["mia", "tom"])
        #expect(list.members[1].machines.map(\.device) == [tom.device, phone.device])
        #expect(!list.isMember(laptop.device) && list.isMember(tom.device) && list.isMember(phone.device))
        // The identity is on the other device too.
        let shared = try list.remove("tom", device: phone.device, signedBy: tom)
        #expect(shared.recipients == ["age1tom"] && shared.lostRecipients == [])
        #expect(try list.remove("tom", device: tom.device, signedBy: tom).lostRecipients == ["age1tom"])
        #expect(list.members.map(\.name) == ["mia"] && list.endedAt == nil)
    }

    @Test func theLastMemberIsRemovedIfThatIsMeantAndTheListOfChangesStays() throws {
        let log = try founded(remembering: true)
        try log.set("signed", "1")
        try log.changeMembers { (members) throws(LogError) in try members.remove("tom", signedBy: mia) }
        #expect(try log.verify().unsignedSince == nil)
        let now = Clock.milliseconds
        #expect(
            try LogError.code {
                try log.changeMembers { (members) throws(LogError) in
                    try members.remove("mia", device: mia.device, signedBy: mia)
                }
            } == .lastMember)
        try log.changeMembers { (members) throws(LogError) in
            try members.remove("mia", allowingNobody: true, signedBy: mia)
        }
        let ended = try #require(try log.verify().unsignedSince)
        #expect(ended >= now && ended <= Clock.milliseconds)
        #expect(try log.members().records.map(\.change.isRemoval) == [false, false, true, true])
        // Whoever opens it can change it, and nothing is named for that.
        let other = try open(as: tom, remembering: true)
        try other.set("unsigned", "2")
        #expect(try other.authors(of: "unsigned") == ["nobody"] && other.authors(of: "signed") == ["member(\"mia\")"])
        #expect(try other.verify().ofNonMembers == [] && other.verify().unsigned == [])
        // A machine that has seen the removals notices a file in which they are missing.
        let records = try log.members().records
        try open(as: nil).forge(members: Array(records.dropLast()))
        #expect(try LogError.code { try open(as: mia, remembering: true).set("a", "3") } == .diverged)
        try open(as: nil).forge(members: records)
        // Somebody may begin anew.
        try open(as: tom).changeMembers { (members) throws(LogError) in
            try members.add("tom", tom.device, signedBy: tom)
        }
        #expect(try open(as: tom).members().endedAt == nil)
        #expect(try LogError.code { try open(as: mia).set("a", "4") } == .notMember)
    }

    @Test func aChangeThatNobodyHasSignedIsDamage() throws {
        let id = RandomBytes.array(16)
        let head = LogPosition(sequence: 1, authenticator: .zero)
        var list = try MemberList([], in: id, at: head)
        try list.add("mia", mia.device, signedBy: mia)
        try list.add("tom", tom.device, signedBy: mia)
        _ = try MemberList(list.records, in: id, at: head)
        #expect(try LogError.code { _ = try MemberList(list.records, in: RandomBytes.array(16), at: head) } == .damaged)
        // Without the one that names its author, the second has none.
        #expect(
            try LogError.code { _ = try MemberList(Array(list.records.dropFirst()), in: id, at: head) } == .damaged)
        let change = list.records[1].change
        let renamed = MemberChange(
            isRemoval: false, time: change.time, name: "eve", device: change.device, recipient: "", known: change.known)
        let forged = [list.records[0], MemberRecord(change: renamed, authorship: list.records[1].authorship)]
        #expect(try LogError.code { _ = try MemberList(forged, in: id, at: head) } == .damaged)
    }

    @Test func aDeviceIsPassedOnAsText() throws {
        #expect(Device(mia.device.text) == mia.device)
        #expect(Device(mia.device.text.uppercased()) == mia.device)
        var mistyped = Array(mia.device.text)
        mistyped[20] = mistyped[20] == "0" ? "1" : "0"
        for text in [String(mistyped), String(mia.device.text.dropLast()), mia.device.text + " ", ""] {
            #expect(Device(text) == nil)
        }
    }
}
