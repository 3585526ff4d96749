import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// What somebody who was shut out has written does not come in by a merge.
@Suite("Merging what somebody may have written who was shut out")
struct MergeGateTests {
    private let vault: SharedVault

    init() throws { vault = try SharedVault() }

    private func merge(
        _ other: SealedLog, into log: SealedLog, taking taken: NamesTaken = .none
    ) throws -> MergeReport {
        try log.merge(other, taking: taken, timeout: SealedLog.patience)
    }

    private func open(_ log: SealedLog, as key: DeviceKey?) throws -> SealedLog {
        try vault.open(log.view.withLock { $0.store.path }, as: key)
    }

    // MARK: A data key that was given up

    /// Without members, nothing tells who has changed the copy.
    @Test func aCopyUnderAFormerDataKeyIsTakenByNameAlone() throws {
        let log = try vault.open(as: nil)
        for name in ["a", "b", "removed", "untouched"] { try log.set(name, "of both") }
        let other = try vault.forked(as: nil)
        try other.set("a", "of the copy")
        try other.set("new", "of the copy")
        try other.remove("removed")
        try log.set("b", "since")
        try log.rotate()
        let states = try log.states()
        let header = try vault.fixture.header
        let report = try merge(other, into: log)
        #expect(report.refused == ["a", "new", "removed"])
        #expect(report.refusedRemovals == [try #require(EntryName("removed"))])
        #expect(report.changed == [] && report.conflicts == [] && report.isOfFormerKey && report.keys == .own)
        #expect(try log.states() == states)
        // The copy does not count as merged.
        #expect(try vault.fixture.header == header)
        #expect(try merge(other, into: log, taking: NamesTaken(["new"])).refused == ["a", "removed"])
        #expect(try log.text("new") == "of the copy" && log.text("a") == "of both")
        #expect(try merge(other, into: log, taking: .all).changed == ["a", "removed"])
        #expect(try log.text("a") == "of the copy" && log.text("removed") == nil && log.text("b") == "since")
        #expect(try merge(other, into: log).refused == [])
        try log.verify()
    }

    /// A removal does not say when the name was set first, which is no change.
    @Test func aRefusedRemovalChangesNothing() throws {
        let log = try vault.open(as: nil)
        // How the times compare in their bytes, differs.
        let names = (0..<16).map { String(format: "name %02d", $0) }
        for value in ["first", "second"] {
            for name in names { try log.commit([log.change(name, to: Array(value.utf8))], at: Clock.milliseconds + 77) }
        }
        let other = try vault.forked(as: nil)
        for name in names { try other.remove(name) }
        try log.rotate()
        let entries = try names.map { try log.history(.sample($0)) }
        let report = try merge(other, into: log)
        #expect(report.refused == names && report.changed == [] && report.conflicts == [])
        #expect(try names.map { try log.history(.sample($0)) } == entries)
    }

    /// Nobody signs any more, so that nobody can vouch for what others have changed.
    @Test func withoutAMemberThatIsLeftACopyMergesAsInAVaultThatNeverHadOne() throws {
        let log = try vault.founded()
        try log.changeMembers { (members) throws(LogError) in
            try members.remove("tom", signedBy: vault.mia)
            try members.remove("mia", allowingNobody: true, signedBy: vault.mia)
        }
        let other = try vault.forked(as: nil)
        try other.set("new", "of the copy")
        try log.set("a", "1")
        let report = try merge(other, into: log)
        #expect(report.refused == [] && report.changed == ["new"])
        #expect(try log.text("new") == "of the copy")
        try log.verify()
    }

    /// Somebody puts a copy under a former data key in the vault's place, and the vault beside it.
    @Test func whatWasShutOutStaysOutIfItIsTheOtherCopyThatWasRotated() throws {
        let log = try vault.open(as: nil)
        for name in ["a", "b", "removed"] { try log.set(name, "of both") }
        let former = try vault.forked(as: nil)
        try former.set("a", "evil")
        try former.set("new", "evil")
        try former.remove("removed")
        try log.rotate()
        try log.set("b", "since")
        let states = try former.states()
        let keys = former.keys.memoryKey
        let report = try merge(log, into: former)
        #expect(report.refused == ["a", "new", "removed"] && report.refusesOwn && report.changed == [])
        #expect(report.refusedRemovals == [try #require(EntryName("removed"))])
        #expect(try former.states() == states && former.keys.memoryKey == keys)
        // By name, and only if all that is left is.
        #expect(try merge(log, into: former, taking: NamesTaken(["new", "a"])).refused == ["removed"])
        #expect(try merge(log, into: former, taking: NamesTaken(["new", "a", "removed"])).changed == ["b"])
        #expect(try former.text("a") == "evil" && former.text("b") == "since" && former.keys.memoryKey != keys)
        try former.verify()
    }

    /// With members, what one of now has signed is no obstacle.
    @Test func aMembersOwnCopyGoesOnWithTheOneThatWasRotated() throws {
        let log = try vault.founded()
        try log.set("a", "of both")
        let away = try vault.forked(as: vault.tom)
        try away.set("of Tom", "1")
        try log.rotate()
        try log.set("a", "since")
        #expect(try merge(log, into: away).refused == [])
        #expect(try away.text("of Tom") == "1" && away.text("a") == "since")
        try away.plant("planted", "evil", under: NonceSource.one())
        try log.rotate()
        #expect(try merge(log, into: away).refused == ["planted"])
    }

    /// The removal comes with the copy: what the member signs in the vault's place does not count either.
    @Test func whatARemovedMemberHasSignedAtTheVaultsPathIsNamed() throws {
        let log = try vault.founded()
        let toms = try vault.forked(as: vault.tom)
        try toms.set("a", "evil")
        try open(toms, as: vault.mia).set("b", "of Mia")
        try vault.remove("tom", from: log)
        let members = try toms.members().records
        let report = try merge(log, into: open(toms, as: vault.mia))
        #expect(report.refused == ["a"] && report.refusesOwn && report.changed == [])
        #expect(try open(toms, as: vault.mia).members().records == members)
    }

    /// Positions are no secret. What others have written since must not count as merged.
    @Test func theHistoryOfACopyUnderAFormerKeyIsNotBelieved() throws {
        let log = try vault.open(as: nil)
        try log.set("a", "of both")
        let forged = try vault.forked(as: nil)
        try log.rotate()
        let colleague = try vault.forked("colleague.vault", as: nil)
        try colleague.set("only there", "1")
        let claimed = colleague.view.withLock { $0.head }
        let leap = UInt64(1) << 61
        for position in [claimed, LogPosition(sequence: leap, authenticator: .zero)] {
            try forged.forge(claiming: position)
            let report = try merge(forged, into: log)
            #expect(report.refused == [] && report.changed == [])
            #expect(log.view.withLock { $0.head.sequence } < 100)
        }
        #expect(try merge(colleague, into: log).changed == ["only there"])
        #expect(try log.text("only there") == "1")
    }

    /// Until the data key is rotated, whoever was removed can write under it.
    @Test func theHistoryOfACopyIsNotBelievedBetweenARemovalAndTheRotation() throws {
        let log = try vault.founded()
        try log.set("a", "first")
        try log.set("a", "second")
        for value in ["first", "second"] { try log.set("b", value) }
        let forged = try vault.forked(as: nil)
        let colleague = try vault.forked("colleague.vault", as: vault.mia)
        try colleague.set("only there", "1")
        try vault.remove("tom", from: log)
        // It claims to have merged everything, and then to have set the earlier value again.
        for position in [log, colleague].map({ $0.view.withLock { $0.head } }) { try forged.forge(claiming: position) }
        var replayed = try #require(try forged.history(.sample("a"))?.former)
        replayed.sequence = 1 << 40
        try forged.write(replayed, [nil])
        #expect(try forged.text("a") == "first")
        var forgetful = try #require(try forged.history(.sample("b")))
        forgetful.earlier = []
        forgetful.forgotten = forgetful.modified
        forgetful.sequence = 1 << 40
        try forged.write(forgetful, [nil])
        #expect(try merge(forged, into: log).refused == [])
        #expect(try log.text("b") == "second" && log.earlierTexts("b") == ["first"])
        #expect(try log.text("a") == "second" && log.earlierTexts("a") == ["first"])
        #expect(log.view.withLock { $0.head.sequence } < 100)
        #expect(try merge(colleague, into: log).changed == ["only there"])
        try log.verify()
    }

    /// A rotation that knows of the removal shuts him out: what others merge counts as merged, as in any vault.
    @Test(arguments: [true, false]) func itIsBelievedOnceARotationKnewOfTheRemoval(_ isRotated: Bool) throws {
        let log = try vault.founded()
        try vault.remove("tom", from: log)
        if isRotated { try log.rotate() }
        let other = try vault.forked(as: vault.mia)
        try other.set("new", "1")
        try log.set("a", "2")
        _ = try merge(other, into: log)
        let head = other.view.withLock { $0.head }
        #expect(try log.text("new") == "1")
        #expect(try KnownHistory(of: log.view.withLock { $0 }).includes(head) == (isRotated ? .included : .excluded))
        // The next removal is another matter, also if the rotation is taken over from a copy.
        let ann = try DeviceKey(.generate())
        try log.changeMembers { (members) throws(LogError) in try members.add("ann", ann.device, signedBy: vault.mia) }
        #expect(try log.members().hasRemovalsUnknownToKey == !isRotated)
        try vault.remove("ann", from: log)
        #expect(try log.members().hasRemovalsUnknownToKey)
        let away = try vault.forked("away.vault", as: vault.mia)
        try log.rotate()
        #expect(try !log.members().hasRemovalsUnknownToKey)
        #expect(try merge(log, into: away).keys == .other)
        #expect(try !away.members().hasRemovalsUnknownToKey)
    }

    /// A removal that only this side knows, whose data key the other side has given up, was made under the former one.
    @Test func aRemovalThatTheOtherSidesRotationDidNotKnowStaysUnknownToIt() throws {
        let log = try vault.founded()
        let away = try vault.forked(as: vault.mia)
        try vault.remove("tom", from: away)
        try log.set("a", "1")
        try log.rotate()
        #expect(try merge(log, into: away).keys == .other)
        #expect(try away.members().members.map(\.name) == ["mia"])
        #expect(try away.members().hasRemovalsUnknownToKey)
        // He may have the new one, and have written this copy: what it says of its history is not believed.
        #expect(try away.text("a") == "1")
        let head = log.view.withLock { $0.head }
        #expect(try KnownHistory(of: away.view.withLock { $0 }).includes(head) == .excluded)
    }

    /// Each change takes a number: a copy with the last ones would end this vault, too.
    @Test(arguments: [-1, 0, 1]) func aCopyWithNumbersThatNoChangesReachIsRefused(beyond distance: Int) throws {
        let log = try vault.open(as: nil)
        try log.set("a", "1")
        let other = try vault.forked(as: nil)
        let half = Limits.sequence / 2
        // The header follows what was merged.
        try other.forge(claiming: LogPosition(sequence: UInt64(Int(half) + distance - 1), authenticator: .zero))
        #expect(other.view.withLock { $0.head.sequence } == UInt64(Int(half) + distance))
        let code = try LogError.code { _ = try merge(other, into: log) }
        #expect(code == (distance < 0 ? nil : .copyDamaged))
        #expect(try log.text("a") == "1")
        #expect((log.view.withLock { $0.head.sequence } > 1_000) == (distance < 0))
    }

    /// One that does not count there: who has made it was removed meanwhile.
    @Test func aRemovalOfTheRotatedCopyCountsThoughThisOneHasAsManyChanges() throws {
        let log = try vault.founded()
        let toms = try vault.forked(as: vault.tom)
        let ann = try DeviceKey(.generate())
        try toms.changeMembers { (members) throws(LogError) in try members.add("ann", ann.device, signedBy: vault.tom)
        }
        try vault.remove("tom", from: log)
        try log.rotate()
        let joined = try open(toms, as: vault.mia)
        #expect(try joined.members().records.count == log.members().records.count)
        #expect(try merge(log, into: joined).keys == .other)
        #expect(try joined.members().records == log.members().records)
        #expect(try joined.members().members.map(\.name) == ["mia"])
    }

    /// The file in the vault's place knows of the removal, too, and has lost a value that nobody has signed.
    @Test func whatAFileFromBeforeTheRotationHasForgottenComesBack() throws {
        let log = try vault.open(as: vault.mia, remembering: true)
        try log.set("a", "of nobody")
        try vault.addMembers(to: log)
        try log.set("a", "of Mia")
        try vault.remove("tom", from: log)
        let forged = try vault.forked("forged.vault", as: nil)
        var entry = try #require(try forged.history(.sample("a")))
        entry.earlier = []
        entry.forgotten = entry.modified
        try forged.write(entry, [nil])
        try log.rotate()
        let other = try vault.forked(as: vault.mia)
        try replace(vault.fixture.path, with: try contents(forged.view.withLock { $0.store.path }))
        let joined = try vault.open(as: vault.mia, remembering: true, joining: [other])
        #expect(try joined.earlierTexts("a") == [])
        #expect(try merge(other, into: joined).refused == [])
        try joined.finishJoining()
        #expect(try vault.open(as: vault.mia, remembering: true).earlierTexts("a") == ["of nobody"])
    }

    /// Of a copy whose data key this vault never had, the same holds: whoever had a former one can have drawn it.
    @Test func soIsACopyThatWasRotatedApart() throws {
        let log = try vault.open(as: nil)
        try log.set("a", "of both")
        let other = try vault.forked(as: nil)
        try log.rotate()
        try other.rotate()
        try other.set("a", "of the copy")
        #expect(try merge(other, into: log).refused == ["a"])
        #expect(try log.text("a") == "of both")
        let former = try log.view.withLock { try $0.manifest() }.formerMemoryKeys
        #expect(former.count == 1)
        _ = try merge(other, into: log, taking: .all)
        #expect(try log.text("a") == "of the copy")
        // Now machines may know the vault under either key. This vault's own stay the newest.
        let all = try log.view.withLock { try $0.manifest() }.formerMemoryKeys
        #expect(all == [other.keys.memoryKey] + former)
    }

    /// A member's laptop that was away while the data key was rotated.
    @Test func whatAMemberHasSignedIsTakenUnderAFormerDataKeyToo() throws {
        let log = try vault.founded()
        try log.set("a", "of both")
        let other = try vault.forked(as: vault.tom)
        try other.set("a", "of Tom")
        try other.set("new", "of Tom")
        try other.set("twice", "first")
        try other.set("twice", "second")
        try other.remove("before")
        try log.rotate()
        let report = try merge(other, into: log)
        #expect(report.refused == [] && report.changed == ["a", "before", "new", "twice"])
        #expect(try log.text("a") == "of Tom" && log.text("before") == nil)
        #expect(try log.earlierTexts("twice") == ["first"])
        #expect(try log.authors(of: "new") == [#"member("tom")"#])
        let verified = try log.verify()
        #expect(verified.foreign == [] && verified.unsigned == [])
        #expect(try merge(other, into: log).changed == [])
    }

    /// Their positions may come after those of this side, and in any order.
    @Test(arguments: 0..<8) func whatAMemberHasSignedLaterIsTakenToo(_ round: Int) throws {
        let log = try vault.founded()
        let other = try vault.forked(as: vault.tom)
        for number in 0..<12 { try other.set("of Tom \(number)", "\(round)") }
        try log.rotate()
        #expect(try merge(other, into: log).changed.count == 12)
        let opened = try open(log, as: vault.mia)
        try opened.verify()
        #expect(try opened.text("of Tom 11") == "\(round)")
        #expect(try opened.view.withLock { $0.head.sequence > (try $0.manifest().merged.last?.sequence ?? .max) })
    }

    /// Whoever had the data key writes into the copy, without a member's device.
    @Test func whatNobodyHasSignedStaysOutBesideIt() throws {
        let log = try vault.founded()
        try log.set("a", "of both")
        let other = try vault.forked(as: vault.tom)
        try log.rotate()
        try other.set("a", "of Tom")
        try other.set("b", "of Tom")
        try other.plant("b", "of nobody", under: NonceSource.one(), earlier: other.states(of: "b"))
        try other.plant("c", "of nobody", under: NonceSource.one())
        let report = try merge(other, into: log)
        #expect(report.refused == ["b", "c"] && report.changed == ["a", "b"])
        // Of b, the newest state that a member has signed counts.
        #expect(try log.text("b") == "of Tom" && log.text("c") == nil)
        #expect(try log.earlierTexts("b") == [])
        try log.verify()
        // What a person takes over is signed by that person.
        _ = try merge(other, into: log, taking: NamesTaken(["c"]))
        #expect(try log.text("c") == "of nobody")
        #expect(try log.authors(of: "c") == [#"member("mia")"#])
        #expect(try log.verify().unsigned == [])
    }

    @Test func underAFormerDataKeyNobodyWhoWasRemovedVouches() throws {
        let log = try vault.founded()
        let other = try vault.forked(as: vault.tom)
        try other.set("a", "of Tom")
        // The removal comes with the copy, and counts all the same.
        try vault.remove("tom", from: open(other, as: vault.mia))
        try log.rotate()
        #expect(try merge(open(other, as: vault.mia), into: log).refused == ["a"])
        #expect(try log.members().members.map(\.name) == ["mia"])
        #expect(try log.text("a") == nil)
    }

    @Test func whoSignsNothingTakesNothingOver() throws {
        let log = try vault.founded()
        let other = try vault.forked(as: nil)
        try log.rotate()
        try other.plant("c", "of nobody", under: NonceSource.one())
        let stranger = try DeviceKey(.generate())
        #expect(try LogError.code { _ = try merge(other, into: open(log, as: stranger), taking: .all) } == .notMember)
        #expect(try log.text("c") == nil)
    }

    /// What a member has signed once is put in the place of what came later, as if it had been set anew.
    @Test func anOlderStateOfAMemberReplacesNone() throws {
        let log = try vault.founded()
        try log.set("a", "first")
        let first = try #require(try log.history(.sample("a")))
        try log.set("a", "second")
        let other = try vault.forked(as: nil)
        try log.rotate()
        var replayed = first
        replayed.sequence = 1 << 40
        try other.write(replayed, [nil])
        #expect(try other.text("a") == "first")
        #expect(try merge(other, into: log).refused == [])
        #expect(try log.text("a") == "second")
        #expect(try log.earlierTexts("a") == ["first"])
    }

    /// Nobody signs a nonce, by which copies of one history agree on one of two states of one time.
    @Test(arguments: [true, false]) func norDoesOneOfTheSameTime(_ isRemoved: Bool) throws {
        let log = try vault.founded()
        try log.set("a", "first")
        let other = try vault.forked(as: vault.tom)
        let time = try #require(try other.history(.sample("a"))).modified
        // The first value has left the history.
        try log.set("a", "second")
        var entry = isRemoved ? try .tombstone("a", modified: time) : try #require(try log.history(.sample("a")))
        entry.modified = time
        entry.earlier = []
        entry.authorship = try other.history(.sample("a"))?.authorship
        try log.write(entry, entry.versions.map { _ in nil })
        try log.rotate()
        // Otherwise the copy has nothing new, whatever is in it.
        try other.set("b", "of the copy")
        let report = try merge(other, into: log)
        #expect(report.refused == [] && report.changed.contains("b"))
        #expect(try log.text("a") == (isRemoved ? nil : "second"))
    }

    /// Nobody signs in which order states were made, but for their times.
    @Test func norDoesAFormerOneOnTopOfThePresentOne() throws {
        let log = try vault.founded()
        try log.set("a", "first")
        try log.set("a", "second")
        let other = try vault.forked(as: nil)
        var own = try #require(try log.history(.sample("a")))
        let present = try #require(own.states.first)
        // The first value has left the history.
        own.earlier = []
        try log.write(own, [nil])
        try log.rotate()
        var entry = try #require(try other.history(.sample("a"))?.former)
        entry.earlier = [present]
        entry.sequence = 1 << 40
        try other.write(entry, [nil, nil])
        #expect(try other.text("a") == "first")
        _ = try merge(other, into: log)
        #expect(try log.text("a") == "second")
    }

    /// Nobody signs what was forgotten.
    @Test func nothingIsForgottenSinceACopyUnderAFormerKeySaysSo() throws {
        let log = try vault.founded()
        try log.set("a", "first")
        try log.set("a", "second")
        let other = try vault.forked(as: nil)
        try log.rotate()
        var entry = try #require(try other.history(.sample("a")))
        entry.earlier = []
        entry.forgotten = entry.modified
        entry.sequence = 1 << 40
        try other.write(entry, [nil])
        _ = try merge(other, into: log)
        #expect(try log.text("a") == "second")
        #expect(try log.earlierTexts("a") == ["first"])
    }

    @Test func aSignatureThatDoesNotHoldIsDamageOfTheCopy() throws {
        let log = try vault.founded()
        let other = try vault.forked(as: vault.tom)
        try other.set("a", "of Tom")
        try log.rotate()
        let authorship = try #require(try other.history(.sample("a"))?.authorship)
        var forged = try #require(try other.history(.sample("a")))
        forged.content?.attributes = [Attribute(key: "not", value: "signed")]
        forged.authorship = authorship
        try other.write(forged, [nil])
        #expect(try LogError.code { _ = try merge(other, into: log) } == .copyDamaged)
        #expect(try log.text("a") == nil)
    }

    /// Who founds the members decides who they are.
    @Test func nobodyFoundsTheMembersOfAVaultFromACopyUnderAFormerKey() throws {
        let log = try vault.open(as: nil)
        try log.set("a", "1")
        let other = try vault.forked(as: vault.mia)
        try log.rotate()
        try vault.addMembers(to: other)
        try other.set("b", "of Mia")
        #expect(try merge(other, into: log).refused == ["b"])
        #expect(try log.members().isEmpty)
        _ = try merge(other, into: log, taking: .all)
        #expect(try log.members().isEmpty)
        #expect(try log.text("b") == "of Mia")
        try log.verify()
    }

    // MARK: Members who were removed

    @Test func whatARemovedMemberHasSignedStaysOut() throws {
        let log = try vault.founded()
        try log.set("a", "of both")
        let other = try vault.forked(as: vault.tom)
        try other.set("a", "of Tom")
        try other.set("b", "of Tom")
        try open(other, as: vault.mia).set("b", "of Mia")
        try open(other, as: vault.mia).set("c", "of Mia")
        try vault.remove("tom", from: log)
        let report = try merge(other, into: log)
        #expect(report.refused == ["a", "b"] && report.changed == ["b", "c"] && !report.isOfFormerKey)
        #expect(try log.text("a") == "of both" && log.text("b") == "of Mia" && log.text("c") == "of Mia")
        #expect(try log.earlierTexts("b") == [])
        try log.verify()
        #expect(try merge(other, into: log, taking: .all).refused == [])
        #expect(try log.text("a") == "of Tom" && log.earlierTexts("b") == ["of Tom"])
        #expect(try log.authors(of: "a") == [#"member("mia")"#, #"member("mia")"#])
        try log.verify()
    }

    /// He need not sign at all.
    @Test(arguments: [true, false]) func whatNobodyHasSignedStaysOutOnceAMemberWasRemoved(_ isKnown: Bool) throws {
        let log = try vault.founded()
        if isKnown {
            // He may have a key that stays.
            try vault.remove("tom", from: log)
            try log.rotate()
        }
        let other = try vault.forked(as: nil)
        try other.plant("c", "of nobody", under: NonceSource.one())
        if !isKnown { try vault.remove("tom", from: log) }
        #expect(try merge(other, into: log).refused == ["c"])
        #expect(try log.text("c") == nil)
        // It does not count as merged.
        #expect(try merge(other, into: log, taking: NamesTaken(["c"])).changed == ["c"])
        #expect(try log.authors(of: "c") == [#"member("mia")"#])
    }

    /// Here the removal comes with the copy, and what the member has changed before it.
    @Test func whatAMemberHadSignedBeforeTheRemovalComesInWithIt() throws {
        let log = try vault.founded()
        let other = try vault.forked(as: vault.tom)
        try other.set("a", "of Tom")
        try vault.remove("tom", from: open(other, as: vault.mia))
        let report = try merge(open(other, as: vault.mia), into: log)
        #expect(report.refused == [] && report.changed == ["a"])
        #expect(try log.members().members.map(\.name) == ["mia"])
        #expect(try log.authors(of: "a") == [#"member("tom")"#])
        try log.verify()
    }

    /// If a merge ends early, what it has brought is signed by somebody whom the vault names.
    @Test func newMembersComeBeforeWhatTheyHaveSigned() throws {
        let log = try vault.founded()
        let other = try vault.forked(as: vault.tom)
        let ann = try DeviceKey(.generate())
        try other.changeMembers { (members) throws(LogError) in try members.add("ann", ann.device, signedBy: vault.tom)
        }
        try open(other, as: ann).set("a", "of Ann")
        try open(other, as: ann).set("b", "of Ann")
        let offset = try #require(try open(other, as: ann).history(.sample("b"))?.content).current.offset
        try open(other, as: ann).compact()
        let moved = try #require(try open(other, as: ann).history(.sample("b"))?.content).current.offset
        #expect(moved != offset)
        var bytes = try contents(other.view.withLock { $0.store.path })
        bytes[Int(moved)] ^= 1
        try overwrite(vault.fixture.folder.file("damaged.vault"), bytes)
        let damaged = try vault.open(vault.fixture.folder.file("damaged.vault"), as: ann)
        #expect(try LogError.code { _ = try merge(damaged, into: log) } == .copyDamaged)
        #expect(try log.members().members.map(\.name) == ["mia", "tom", "ann"])
        try log.verify()
    }

    // MARK: Who is told

    @Test func whoWasRemovedOnOneSideIsToldOnTheOther() throws {
        let log = try vault.founded()
        let toms = try vault.forked(as: vault.tom)
        let mias = try vault.forked("mias.vault", as: vault.mia)
        try vault.remove("tom", from: log)
        try log.rotate()
        #expect(try merge(log, into: mias).members == MemberDifferences(removed: ["tom"]))
        // Each has removed the other one.
        try toms.changeMembers { (members) throws(LogError) in try members.remove("mia", signedBy: vault.tom) }
        try toms.rotate()
        let report = try merge(log, into: toms)
        #expect(report.members == MemberDifferences(hereAlone: ["tom"], thereAlone: ["mia"]))
    }

    // MARK: What a person keeps of the vault

    /// Whoever has signed it may be no member of the merged vault, and not even be known there.
    @Test(arguments: [true, false]) func whatAPersonKeepsIsSignedByThatPerson(isRotated: Bool) throws {
        let log = try vault.founded()
        let other = try vault.forked(as: vault.tom)
        let zed = try DeviceKey(.generate())
        try other.changeMembers { (members) throws(LogError) in
            try members.add("zed", zed.device, signedBy: vault.tom)
        }
        for text in ["first", "second"] { try open(other, as: zed).set("of zed", text) }
        try open(other, as: vault.tom).set("of tom", "third")
        try open(other, as: vault.tom).remove("before")
        try open(other, as: vault.mia).set("of mia", "fourth")
        try vault.remove("tom", from: log)
        if isRotated { try log.rotate() }
        let path = other.view.withLock { $0.store.path }
        let mias = try vault.open(path, as: vault.mia, remembering: true)
        let kept = ["before", "of tom", "of zed"]
        #expect(try merge(log, into: mias).refused == kept)
        let state = try mias.state()
        #expect(try merge(log, into: mias, taking: NamesTaken(kept)).isWhole)
        #expect(try mias.state() == state)
        for name in kept + ["of mia"] { #expect(try mias.authors(of: name).last == #"member("mia")"#) }
        let entry = try #require(try mias.history(.sample("of zed")))
        #expect(entry.signedStates.allSatisfy { $0.authorship?.author == vault.mia.device.id })
        #expect(try mias.earlierTexts("of zed") == ["first"])
        let verified = try mias.verify()
        #expect([verified.ofNonMembers, verified.foreign, verified.unsigned] == [[], [], []])
        // So the other side takes it over, too.
        #expect(try merge(mias, into: log).refused == [])
        #expect(try log.state() == state)
    }

    /// The changes of the members come after it, so that a second merge sees what the first one has seen.
    @Test func aMergeThatIsCutAfterThatIsDoneAgain() throws {
        let log = try vault.founded()
        let other = try vault.forked(as: vault.tom)
        let path = other.view.withLock { $0.store.path }
        try other.set("of tom", "second")
        try vault.remove("tom", from: log)
        let files = FaultyFileSystem()
        let mias = try vault.open(path, as: vault.mia, in: files)
        files.fail([.rename], with: .error(EIO))
        #expect(throws: LogError.self) { try merge(log, into: mias, taking: NamesTaken(["of tom"])) }
        #expect(try mias.members().members.map(\.name) == ["mia", "tom"])
        #expect(try merge(log, into: open(other, as: vault.mia)).isWhole)
        #expect(try open(other, as: vault.mia).verify().ofNonMembers == [])
    }

    // MARK: Different values under one nonce

    @Test(arguments: [true, false]) func aCopyWithTwoValuesUnderOneNonceIsRefused(_ isRotated: Bool) throws {
        let log = try vault.open(as: nil)
        try log.set("a", "IBAN-OF-SUPPLIER")
        let other = try vault.forked(as: nil)
        if isRotated { try log.rotate() }
        try other.plant("b", "0123456789abcdef", under: other.nonce(of: "a"))
        #expect(try LogError.code { _ = try merge(other, into: log, taking: .all) } == .copyDamaged)
        #expect(try log.text("b") == nil)
    }

    /// Neither file has two of them by itself.
    @Test(arguments: ["a", "b"]) func aCopyWithANonceOfThisVaultsIsRefused(_ name: String) throws {
        let log = try vault.open(as: nil)
        try log.set("a", "IBAN-OF-SUPPLIER")
        let nonce = try log.nonce(of: "a")
        let other = try vault.forked(as: nil)
        try other.make(changes: [other.forgetting("a")])
        try other.plant(name, "0123456789abcdef", under: nonce)
        #expect(try other.verify().sharingNonces == [])
        #expect(try LogError.code { _ = try merge(other, into: log) } == .copyDamaged)
        #expect(try log.text("a") == "IBAN-OF-SUPPLIER" && log.text("b") == nil)
    }
}

extension SealedLog {
    /// The states that a name has and had, as earlier versions.
    fileprivate func states(of name: String) throws -> [EarlierVersion] {
        try #require(try history(.sample(name))).states
    }
}
