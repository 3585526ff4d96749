import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// What tells that two copies have the same key: whoever has the data key can give his own another name.
@Suite("Keys of two copies")
struct KeyIdentityTests {
    private let fixture: LogFixture
    private let here: SealedLog
    private let there: SealedLog

    /// Both were rotated, and there, the keys of Bob, and of a recipient of his, have been dropped.
    init() throws {
        fixture = try LogFixture()
        here = try fixture.open()
        try here.set("a", "1")
        _ = try here.changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in
            for name in ["bob", "tom"] {
                try table.add(passphrase(name), limits: .low, label: name)
                try table.add(
                    recipient(name == "bob" ? 1 : 2), limits: .low, parameters: [1], label: "",
                    recipient: "age1" + name)
            }
        }
        let copy = fixture.folder.file("there.vault")
        try overwrite(copy, try fixture.bytes)
        there = try openApart(copy, options: SealedLog.Options(), readKey: fixture.key)
        for log in [there, here] {
            let isThere = log === there
            _ = try log.changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in
                if isThere { for _ in 0..<2 { try table.remove(table.slots[1].salt) } }
                try table.rotate { (slot) throws(LogError) in
                    for name in ["bob", "tom"] {
                        if let renewal = try SlotTable.Renewal(of: slot, openedBy: passphrase(name)) { return renewal }
                    }
                    return SlotTable.Renewal(recipient: try recipient(slot.salt[0] &+ 2), stanzas: [1])
                }
            }
        }
    }

    private var doubted: [Int] {
        get throws {
            let theirs = try there.read { (view) in view }
            return try here.read { (view) throws(LogError) in try MergedKeys(view, theirs, isOwnKnown: true).doubtedKeys
            }
        }
    }

    private func rename(_ edit: (inout [SlotLabel]) -> Void) throws {
        _ = try here.changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in edit(&table.labels) }
    }

    @Test func theKeysThatTheOtherRotationHasDroppedAreDoubted() throws {
        #expect(try doubted == [1, 2])
        let theirs = try there.read { (view) in view }
        let kept = try here.read { (view) throws(LogError) in
            try [[1], [2], [0, 1, 2], [1, 2, 16]].map { (kept) throws(LogError) in
                let slots = view.header.slots
                let salts = kept.filter(slots.indices.contains).map { slots[$0].salt }
                return try MergedKeys(view, theirs, keeping: Set(salts), isOwnKnown: true).doubtedKeys
            }
        }
        #expect(kept == [[2], [1], [], []])
    }

    /// Another key of the same person's opens the copy.
    @Test func theKeyInUseIsAskedAboutThatACopyUnderTheSameDataKeyHasRemoved() throws {
        let path = fixture.folder.file("same.vault")
        try overwrite(path, try fixture.bytes)
        let same = try openApart(path, options: SealedLog.Options(), readKey: fixture.key)
        _ = try same.changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in
            for _ in 0..<2 { try table.remove(table.slots[0].salt) }
        }
        let theirs = try same.read { (view) in view }
        let found = try here.read { (view) throws(LogError) in
            try [[], [view.header.slots[0].salt]].map { (kept) throws(LogError) in
                try MergedKeys(view, theirs, keeping: Set(kept), isOwnKnown: true)
            }
        }
        #expect(found.map(\.doubtedKeys) == [[0], []] && found.map(\.keptKeys.count) == [0, 1])
        #expect(found.map { $0.goneKeys.map(\.label) } == [["bob"], ["bob"]])
    }

    /// A key has a salt, which nobody else's key has.
    @Test func aKeyWithTheNameOfAnotherIsNotTakenForIt() throws {
        try rename { labels in
            labels[1] = labels[3]
            labels[3] = SlotLabel(created: 1, text: "another")
        }
        #expect(try doubted == [1, 2, 3])
    }

    /// A recipient's salt is new with each rotation, but only one has the name.
    @Test func oneOfTwoRecipientsWithOneNameIsNotTakenForTheOther() throws {
        try rename { $0[2] = $0[4] }
        #expect(try doubted == [1, 2, 4])
    }
}
