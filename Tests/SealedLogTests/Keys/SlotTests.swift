import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// Each way to open a vault, and changes to them.
@Suite("Key slots")
struct SlotTests {

    private let fixture: LogFixture
    private let log: SealedLog

    init() throws {
        fixture = try LogFixture()
        log = try fixture.open()
        try log.set("a", "value")
    }

    /// A key file with any content.
    private func otherKey(_ text: String = "any other file") throws(LogError) -> KeyFile {
        let path = fixture.folder.file("other key")
        try? overwrite(path, Array(text.utf8))
        return try KeyFile.read(path, secretFolders: [], in: PosixFileSystem())
    }

    private static let salt = [UInt8](repeating: 7, count: KeyDerivation.saltSize)

    private func change(_ edit: (inout SlotTable) throws(LogError) -> Void) throws {
        _ = try log.changeKeys(timeout: SealedLog.patience, nil, edit)
    }

    private func opens(_ credential: () throws(LogError) -> Credential) throws -> Bool {
        try withoutActuallyEscaping(credential) { credential in
            var unlocker = CredentialUnlocker(credential)
            let opening = Opening(location: fixture.location, options: fixture.options())
            var text: String?
            let code = try LogError.code { text = try opening.opened(&unlocker).text("a") }
            #expect(text == (code == nil ? "value" : nil))
            #expect([nil, .keyWrong].contains(code))
            return code == nil
        }
    }

    // MARK: Kinds

    @Test func eachKindOpensWithItsSecretAndWithNoOther() throws {
        try change { (table) throws(LogError) in
            try table.add(.keyFile(otherKey()), limits: .low, label: "another file")
            try table.add(passphrase(), limits: .low, label: "a passphrase")
            try table.add(.passphrase(secret("both"), with: fixture.key()), limits: .low, label: "both")
            try table.add(recipient(1), limits: .low, parameters: [1, 2], label: "r", recipient: "age1")
        }
        #expect(try log.keySlots().slots.map(\.kind) == [1, 2, 3, 4, 5])

        #expect(try opens { () throws(LogError) in try .keyFile(fixture.key()) })
        #expect(try opens { () throws(LogError) in try .keyFile(otherKey()) })
        #expect(try opens { () throws(LogError) in try passphrase() })
        #expect(try opens { () throws(LogError) in try .passphrase(secret("both"), with: fixture.key()) })
        #expect(try opens { () throws(LogError) in try recipient(1) })

        #expect(try !opens { () throws(LogError) in try .keyFile(otherKey("any other filf")) })
        for wrong in ["", "ab", "abd", "ABC", "abc ", "both", "any other file"] {
            #expect(try !opens { () throws(LogError) in try passphrase(wrong) }, "\(wrong)")
        }
        // Neither of the two is enough.
        #expect(try !opens { () throws(LogError) in try .passphrase(secret("both"), with: otherKey()) })
        let another = try LogFixture()
        #expect(try !opens { () throws(LogError) in try .passphrase(secret("both"), with: another.key()) })
        #expect(try !opens { () throws(LogError) in try .passphrase(secret("bath"), with: fixture.key()) })
        #expect(try !opens { () throws(LogError) in try .passphrase(secret("abc"), with: fixture.key()) })
        #expect(try !opens { () throws(LogError) in try recipient(2) })
        let otherSalt = [UInt8](repeating: 8, count: KeyDerivation.saltSize)
        #expect(try !opens { () throws(LogError) in try recipient(1, salt: otherSalt) })
    }

    @Test func aWrappingKeyOpensItsOwnSlotAndNoOther() throws {
        try change { (table) throws(LogError) in
            try table.add(passphrase(), limits: .low, label: "")
            try table.add(recipient(1), limits: .low, label: "")
        }
        let slots = try fixture.header.slots
        for (index, slot) in slots.enumerated() {
            let keys =
                switch index {
                case 0: try [slot].unlock(with: .keyFile(fixture.key()))
                case 1: try [slot].unlock(with: passphrase())
                default: try [slot].unlock(with: recipient(1))
                }
            #expect(try slots.unlock(again: keys).slot?.salt == slot.salt)
            #expect(try [slot].unlock(again: keys).slot?.salt == slot.salt)
            for other in slots where other != slot {
                #expect(try LogError.code { _ = try [other].unlock(again: keys) } == .keyWrong)
                // Even where the slot is said to be its own.
                var forged = other
                forged.salt = slot.salt
                #expect(try LogError.code { _ = try [forged].unlock(again: keys) } == .keyWrong)
            }
        }
    }

    // MARK: Bounds

    private static let unbearable: [KeyDerivation.StretchLimits] = [
        .init(passes: 11, memory: 8_192), .init(passes: 0, memory: 8_192), .init(passes: 1, memory: 8_191),
        .init(passes: 2, memory: 385 << 20), .init(passes: .max, memory: 1 << 20),
    ]

    /// The slots are read before anything is authentic.
    @Test(arguments: SlotTests.unbearable)
    func limitsOutOfBoundsAreDamageBeforeAnyWork(_ limits: KeyDerivation.StretchLimits) throws {
        try change { (table) throws(LogError) in try table.add(passphrase(), limits: .low, label: "") }
        var slots = try fixture.header.slots
        // Behind one that the secret opens.
        slots.append(slots[1])
        slots[2].limits = limits
        let tried = slots
        let start = ContinuousClock.now
        #expect(try LogError.code { _ = try tried.unlock(with: passphrase()) } == .damaged)
        #expect(ContinuousClock.now - start < .seconds(5))
        // Slots of another kind are not tried.
        #expect(try slots.unlock(with: .keyFile(fixture.key())).slot?.salt == slots[0].salt)
    }

    @Test func theSlotsOfOneKindTogetherKeepTheBound() throws {
        try change { (table) throws(LogError) in try table.add(passphrase(), limits: .low, label: "") }
        var slots = try fixture.header.slots
        for _ in 0..<2 { slots.append(slots[1]) }
        for index in [2, 3] { slots[index].limits = KeyDerivation.StretchLimits(passes: 6, memory: 64 << 20) }
        #expect(try LogError.code { _ = try slots.unlock(with: passphrase()) } == .damaged)
        slots[3].kind = KeySlot.Kind.otherKey.rawValue
        #expect(try slots.unlock(with: passphrase()).slot?.salt == slots[1].salt)

        let half = KeyDerivation.StretchLimits(passes: 6, memory: 64 << 20)
        var table = try log.keySlots()
        let unbearable = KeyDerivation.StretchLimits(passes: 11, memory: 1 << 20)
        #expect(try LogError.code { try table.add(passphrase("x"), limits: unbearable, label: "") } == .invalid)
        try table.add(passphrase("x"), limits: half, label: "")
        #expect(try LogError.code { try table.add(passphrase("y"), limits: half, label: "") } == .invalid)
    }

    @Test func whatOneSlotTakesLeavesRoomForMore() throws {
        var table = try log.keySlots()
        #expect(try table.affordable(.low, for: passphrase()) == .low)
        let most = KeyDerivation.StretchLimits(passes: 3, memory: 256 << 20)
        for number in 0..<3 {
            let limits = try table.affordable(most, for: passphrase())
            #expect(limits.passes == 3 && limits.cost >= KeyDerivation.StretchLimits.recommended.cost)
            #expect(limits.cost <= KeyDerivation.StretchLimits.largestCost / 3)
            // The work itself is not what this is about.
            let manifest = Manifest(
                created: 1, totals: Totals(), chain: [], labels: table.labels + table.labels.prefix(1), settings: [])
            table = try SlotTable(
                fixture.header.with(table.slots + [stretched(by: limits)]), manifest, table.members, log.keys)
            try table.slots.check()
            #expect(table.slots.count == number + 2)
        }
    }

    private func stretched(by limits: KeyDerivation.StretchLimits) throws -> KeySlot {
        try KeySlot(for: passphrase(), limits: limits)
    }

    // MARK: The table

    private func manifest() throws -> Manifest { try log.read { (view) throws(LogError) in try view.manifest() } }

    /// What was removed is named for good, and nothing that is added later gets that name, however fast it comes.
    @Test func aRemovedKeyIsNamedAndNoOtherLikeIt() throws {
        var names: [SlotLabel.ID] = []
        for _ in 0..<3 {
            try change { (table) throws(LogError) in
                for _ in 0..<2 {
                    try table.add(recipient(1), limits: .low, parameters: [1], label: "r", recipient: "age1")
                    names.append(table.labels[1].id)
                    try table.remove(table.slots[1].salt)
                }
            }
        }
        #expect(Set(names).count == 6)
        #expect(try manifest().removedKeys == names)
        try log.compact()
        #expect(try manifest().removedKeys == names)
        // So does what is replaced, but not what costs more.
        try change { (table) throws(LogError) in
            try table.add(otherKeyFile(), limits: .low, label: "r")
            names.append(table.labels[1].id)
            try table.replace(table.slots[1].salt, by: passphrase(), limits: .low)
            let id = table.labels[1].id
            try table.raise(passphrase(), to: .recommended)
            guard table.labels[1].id == id, id != names.last, table.removedKeys == [names[6]] else {
                throw LogError(.conflict)
            }
        }
        #expect(try manifest().removedKeys == names)
    }

    /// Whoever has the data key may have written any time.
    @Test(arguments: [0, UInt64.max - 1, UInt64.max]) func aKeyThatIsKeptHasAnotherName(created: UInt64) throws {
        var table = try log.keySlots()
        table.labels[0] = SlotLabel(created: created, text: "x")
        let id = table.labels[0].id
        table.keep([randomAuthenticator()])
        #expect(table.labels[0].id == id)
        table.keep([id])
        #expect(table.labels[0].id != id && table.labels[0].text == "x" && table.removedKeys == [])
        #expect(table.labels[0].created >= (created == .max - 1 ? .max : Clock.milliseconds - 60_000))
    }

    private func otherKeyFile() throws(LogError) -> Credential { .keyFile(try otherKey()) }

    @Test(arguments: [-1, 0, 1]) func theNewestRemovedKeysAreNamed(_ more: Int) throws {
        var manifest = try manifest()
        let keys = (0..<Limits.removedKeys + more).map { _ in randomAuthenticator() }
        manifest.addRemoved(Array(keys.dropLast(3)))
        manifest.addRemoved(Array(keys.suffix(3)))
        #expect(manifest.removedKeys == keys.suffix(Limits.removedKeys))
        // Those of another copy only take what room is left, once each.
        let others = [keys[keys.count - 1], randomAuthenticator(), randomAuthenticator()]
        manifest.addRemoved(ofCopy: others)
        #expect(manifest.removedKeys == (others.suffix(2) + keys).suffix(Limits.removedKeys))
        #expect(try Manifest(parsing: manifest.encoded, of: fixture.header).removedKeys == manifest.removedKeys)
    }

    @Test func aSlotIsAddedAndRemovedWithItsLabel() throws {
        let before = Clock.milliseconds
        try change { (table) throws(LogError) in
            try table.add(passphrase(), limits: .low, label: "ä passphrase")
        }
        var information = try fixture.open().information().keySlots
        #expect(information.map(\.label) == ["a label", "ä passphrase"])
        #expect(information.map(\.kind) == [.generatedKey, .passphrase])
        #expect(information.map(\.isOwn) == [true, false])
        #expect(information.map(\.limits) == [nil, .low])
        #expect((before...Clock.milliseconds).contains(information[1].creation))
        #expect(information[0].creation <= before)
        #expect(try log.keySlots().own == 0)

        try change { (table) throws(LogError) in try table.remove(table.slots[0].salt) }
        #expect(try !opens { () throws(LogError) in try .keyFile(fixture.key()) })
        #expect(try opens { () throws(LogError) in try passphrase() })
        information = try log.information().keySlots
        #expect(information.map(\.label) == ["ä passphrase"])
        // This log was opened by the other one.
        #expect(information.map(\.isOwn) == [false])
        #expect(try log.keySlots().own == nil)
    }

    @Test func theLastSlotIsNotRemoved() throws {
        let bytes = try fixture.bytes
        let code = try LogError.code {
            try change { (table) throws(LogError) in try table.remove(table.slots[0].salt) }
        }
        #expect(code == .invalid)
        #expect(try fixture.bytes == bytes)
    }

    /// Another process may have removed it.
    @Test func aSlotThatIsGoneIsNoneToChange() throws {
        var table = try log.keySlots()
        #expect(try LogError.code { try table.remove(SlotTests.salt) } == .slotGone)
        let code = try LogError.code { try table.replace(SlotTests.salt, by: passphrase(), limits: .low) }
        #expect(code == .slotGone)
        #expect(try table.slots == fixture.header.slots)
    }

    @Test func aReplacedSlotIsNotEasierToGuess() throws {
        let costly = KeyDerivation.StretchLimits(passes: 2, memory: 16 << 10)
        var table = try log.keySlots()
        try table.add(passphrase(), limits: costly, label: "")
        try table.replace(table.slots[1].salt, by: passphrase("new"), limits: .low)
        #expect(table.slots[1].limits == costly)
    }

    /// A slot is known by its salt: who could give two slots the same could pass one off for the other.
    @Test func twoSlotsWithOneSaltAreDamage() throws {
        try change { (table) throws(LogError) in try table.add(passphrase(), limits: .low, label: "") }
        var header = try fixture.header
        header.slots[1].salt = header.slots[0].salt
        let bytes = header.encoded + [UInt8](repeating: 0, count: Header.size - Header.macOffset)
        #expect(try LogError.code { _ = try Header(parsing: bytes) } == .damaged)
    }

    @Test func aReplacedSlotOpensWithTheNewSecretAlone() throws {
        try change { (table) throws(LogError) in try table.add(passphrase(), limits: .low, label: "p") }
        try change { (table) throws(LogError) in
            try table.replace(table.slots[1].salt, by: passphrase("new"), limits: .low)
        }
        #expect(try !opens { () throws(LogError) in try passphrase() })
        #expect(try opens { () throws(LogError) in try passphrase("new") })
        #expect(try log.information().keySlots.map(\.label) == ["a label", "p"])
    }

    @Test func theCostOfAGuessIsOnlyEverRaised() throws {
        try change { (table) throws(LogError) in try table.add(passphrase(), limits: .low, label: "p") }
        let created = try log.information().keySlots[1].creation
        let higher = KeyDerivation.StretchLimits.low.memory * 2
        try change { (table) throws(LogError) in
            try table.raise(passphrase(), to: .init(passes: 1, memory: higher))
        }
        let slot = try log.information().keySlots[1]
        #expect(slot.limits == .init(passes: 1, memory: higher) && slot.creation == created && slot.label == "p")
        #expect(try opens { () throws(LogError) in try passphrase() })

        func code(_ secret: consuming Credential, _ passes: UInt64, _ memory: UInt64) throws -> LogError.Code? {
            var table = try log.keySlots()
            do throws(LogError) { try table.raise(secret, to: .init(passes: passes, memory: memory)) } catch {
                return error.code
            }
            return nil
        }
        #expect(try code(passphrase(), 1, higher) == .invalid)
        #expect(try code(passphrase(), 11, higher) == .invalid)
        #expect(try code(passphrase("abd"), 2, higher) == .keyWrong)
        #expect(try code(.keyFile(fixture.key()), 2, higher) == .invalid)
        #expect(try code(passphrase(), 2, higher) == nil)
    }

    @Test func aVaultHas16SlotsAndNoMore() throws {
        try change { (table) throws(LogError) in
            for number in 1..<16 {
                try table.add(passphrase("\(number)"), limits: .low, label: "\(number)")
            }
        }
        #expect(try opens { () throws(LogError) in try passphrase("15") })
        var table = try log.keySlots()
        let code = try LogError.code { try table.add(passphrase("16"), limits: .low, label: "") }
        #expect(code == .invalid)
        #expect(table.slots.count == 16 && table.labels.count == 16)
        #expect(try log.information().keySlots.map(\.label) == ["a label"] + (1..<16).map(String.init))
        // And each of them goes, in any order.
        try change { (table) throws(LogError) in
            for _ in 0..<15 { try table.remove(table.slots[table.slots.count / 2].salt) }
        }
        #expect(try fixture.header.slots.count == 1)
    }

    @Test func parametersForWhichTheHeaderHasNoRoomAreRefused() throws {
        var table = try log.keySlots()
        func add(_ size: Int) throws(LogError) {
            let salt = RandomBytes.array(KeyDerivation.saltSize)
            try table.add(
                recipient(1, salt: salt), limits: .low, parameters: [UInt8](repeating: 9, count: size),
                label: "", recipient: "age1")
        }
        try add(1_000)
        #expect(try LogError.code { try add(985) } == .invalid)
        #expect(table.slots.count == 2)
        try add(984)
        #expect(try LogError.code { try add(1) } == .invalid)
        let full = table
        try change { $0 = full }
        #expect(try fixture.open().keySlots().slots.map(\.parameters.count) == [0, 1_000, 984])
        try log.verify()
    }

    @Test func aLabelThatIsTooLongIsRefused() throws {
        var table = try log.keySlots()
        let longest = String(repeating: "x", count: 256)
        try table.add(passphrase(), limits: .low, label: longest)
        let code = try LogError.code { try table.add(passphrase(), limits: .low, label: longest + "x") }
        #expect(code == .invalid)
        #expect(table.slots.count == 2)
    }

    // MARK: Tampering

    /// Who can write the file, in the header and in its copy, but has no key.
    @Test func aSlotThatIsAddedRemovedReorderedOrChangedIsDamage() throws {
        try change { (table) throws(LogError) in
            for text in ["abc", "def"] { try table.add(passphrase(text), limits: .low, label: "") }
        }
        let bytes = try fixture.bytes
        let slots = try fixture.header.slots
        func code(_ changed: [KeySlot], of text: String = "abc") throws -> LogError.Code? {
            var header = try Header(parsing: Array(bytes[..<Header.size]))
            header.slots = changed
            var image = bytes
            for start in [0, Header.copyOffset] {
                image.replaceSubrange(start..<start + Header.macOffset, with: header.encoded)
            }
            try overwrite(fixture.path, image)
            defer { try? overwrite(fixture.path, bytes) }
            var unlocker = CredentialUnlocker { () throws(LogError) in try passphrase(text) }
            let opening = Opening(location: fixture.location, options: fixture.options())
            return try LogError.code { _ = try opening.opened(&unlocker) }
        }
        #expect(try code(slots) == nil)
        // One that the attacker can open, with a data key of theirs.
        let own = try KeySlot(for: passphrase("mine"), limits: .low)
        var scratch = try SecretBytes(zeros: SecretBox.keySize)
        let added = try scratch.withUnsafeMutableBytes { scratch in
            let dataKey = [UInt8](repeating: 5, count: SecretBox.keySize)
            return try dataKey.withRawBytes { try own.wrapping($0, with: passphrase("mine"), scratch) }
        }
        #expect(try code(slots + [added], of: "mine") == .damaged)
        #expect(try code(slots + [added]) == .damaged)
        // The same twice.
        #expect(try code(slots + slots.prefix(1)) == .damaged)
        for index in slots.indices where index != 1 {
            var removed = slots
            removed.remove(at: index)
            #expect(try code(removed) == .damaged)
        }
        #expect(try code([slots[1], slots[0], slots[2]]) == .damaged)
        for index in [0, 2] {
            var changed = slots
            changed[index].limits = .init(passes: index == 0 ? 0 : 2, memory: index == 0 ? 0 : 8 << 10)
            changed[index].wrapped[0] ^= 1
            #expect(try code(changed) == .damaged)
        }
        // Its own limits: the secret opens nothing then.
        var changed = slots
        changed[1].limits = .init(passes: 2, memory: 8 << 10)
        #expect(try code(changed) == .keyWrong)
        changed[1].limits = .init(passes: 11, memory: 8 << 10)
        #expect(try code(changed) == .damaged)
    }
}

extension Header {
    fileprivate func with(_ slots: [KeySlot]) -> Header {
        var header = self
        header.slots = slots
        return header
    }
}
