import LinuxSystem
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// An attribute that guards a name stays if one side has it and both have changed the name.
@Suite("Merging a name that is guarded on one side")
struct PolicyMergeTests {
    private let vault: SharedVault

    init() throws { vault = try SharedVault() }

    private static let guarding = [Attribute(key: "policy", value: "run"), Attribute(key: "url", value: "x")]
    private static let others = [Attribute(key: "tier", value: "y")]

    private func merge(_ other: SealedLog, into log: SealedLog) throws -> MergeReport {
        try log.merge(other, keeping: "policy", timeout: SealedLog.patience)
    }

    private func attributes(_ log: SealedLog) throws -> [String: String]? {
        let attributes = try log.history(.sample("a"))?.content?.attributes ?? []
        return Dictionary(uniqueKeysWithValues: attributes.map { ($0.key, $0.value) })
    }

    /// In whichever copy the later value is, and whichever copy merges.
    @Test(arguments: [true, false], [true, false]) func staysGuarded(isGuardedLater: Bool, hasMembers: Bool) throws {
        let log = hasMembers ? try vault.founded() : try vault.open(as: nil)
        try log.set("a", "of both")
        let other = try vault.forked(as: hasMembers ? vault.tom : nil)
        for isGuarded in isGuardedLater ? [false, true] : [true, false] {
            let (side, text) = isGuarded ? (log, "guarded") : (other, "other")
            let attributes = isGuarded ? Self.guarding : Self.others
            try side.make(changes: [side.change("a", to: Array(text.utf8), attributes: attributes)])
            Clock.sleep(microseconds: 3_000)
        }
        let former = try openCopy(of: log, as: hasMembers ? vault.mia : nil)
        #expect(try merge(other, into: log).conflicts == ["a"])
        _ = try merge(former, into: other)
        let expected = isGuardedLater ? ["policy": "run", "url": "x"] : ["policy": "run", "tier": "y"]
        for merged in [log, other] {
            #expect(try merged.text("a") == (isGuardedLater ? "guarded" : "other"))
            #expect(try attributes(merged) == expected)
            try merged.verify()
        }
        if !hasMembers { #expect(try log.entriesWithoutOffsets() == other.entriesWithoutOffsets()) }
        _ = try merge(other, into: log)
        #expect(try attributes(log) == expected)
    }

    private func openCopy(of log: SealedLog, as key: DeviceKey?) throws -> SealedLog {
        let path = vault.fixture.folder.file("former.vault")
        try overwrite(path, contents(log.view.withLock { $0.store.path }))
        return try vault.open(path, as: key)
    }

    /// One copy alone has changed the name: it has lifted the policy.
    @Test func aPolicyThatWasLiftedStaysLifted() throws {
        let log = try vault.open(as: nil)
        try log.make(changes: [log.change("a", to: [1], attributes: Self.guarding)])
        let other = try vault.forked(as: nil)
        try other.make(changes: [other.change("a", to: [1], attributes: Self.others)])
        try log.set("b", "unrelated")
        _ = try merge(other, into: log)
        #expect(try attributes(log) == ["tier": "y"])
        _ = try merge(log, into: other)
        #expect(try attributes(other) == ["tier": "y"])
    }

    @Test func aRemovalThatIsLaterStays() throws {
        let log = try vault.open(as: nil)
        try log.make(changes: [log.change("a", to: [1], attributes: Self.guarding)])
        let other = try vault.forked(as: nil)
        try log.set("a", "2")
        try other.set("a", "3")
        try other.remove("a")
        _ = try merge(other, into: log)
        #expect(try log.text("a") == nil)
    }
}
