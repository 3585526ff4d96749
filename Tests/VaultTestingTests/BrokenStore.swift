import FoundationEssentials
import LinuxSystem
import Sealing
import Vault

/// A store in memory that breaks one rule.
final class BrokenStore: ValueStore {
    enum Flaw: CaseIterable, Sendable {
        case keepsTheFirstValue, ignoresRemovals, takesEmptyForAbsent, listsRemovedKeys
        case makesRealsIntegers, losesTheSignOfZero, dropsNaN, normalizesLineEnds, trimsStrings, cutsFractionsOfDates
        case refusesEmptyStrings, storesBeforeItRefuses, composesAccents, losesTypes
        case sortsKeysAsUTF16, matchesPrefixesByCharacters, ignoresThePrefix
        case refusesSlashes, cutsLongKeys, ignoresCase, decodesPercents
        case changesOneByOne, ignoresExpectations, comparesNumbersByValue, neverMatchesNaN, changesBeforeItCompares
        case overwritesWhatShouldBeAbsent, refusesToRemoveAbsent, refusesWhatChangesNothing
        case isSilent, hasManyIdentities, hasManyFeeds, hasOneIdentityForAll
    }

    private struct Slot {
        var key: String
        var value: StoredValue?
    }

    let flaw: Flaw
    private let feed = ChangeFeed()
    let failures = FailureLog()
    private let slots = Mutex<[Slot]>([])

    init(_ flaw: Flaw) {
        self.flaw = flaw
    }

    private static let shared = ChangeFeed()

    var changes: ChangeFeed { flaw == .hasManyFeeds ? ChangeFeed() : feed }

    var identity: StoreIdentity {
        switch flaw {
        case .hasManyIdentities: StoreIdentity(self, scope: UUID().uuidString)
        case .hasOneIdentityForAll: StoreIdentity(BrokenStore.shared)
        default: StoreIdentity(self)
        }
    }

    func value(of key: String) -> StoredValue? {
        let value = slots.withLock { slots in slots.first { $0.key.utf8.elementsEqual(named(key).utf8) }?.value }
        return flaw == .takesEmptyForAbsent && value == .string("") ? nil : value
    }

    func keys(prefix: String) -> [String] {
        let keys = slots.withLock { slots in
            slots.filter { flaw == .listsRemovedKeys || $0.value != nil }.map(\.key)
        }
        let matching = keys.filter { key in
            switch flaw {
            case .ignoresThePrefix: true
            case .matchesPrefixesByCharacters: key.hasPrefix(prefix)
            default: key.utf8.starts(with: named(prefix).utf8)
            }
        }
        if flaw == .sortsKeysAsUTF16 { return matching.sorted { $0.utf16.lexicographicallyPrecedes($1.utf16) } }
        return matching.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    func commit(_ batch: StoreBatch) throws(VaultError) -> Bool {
        if flaw == .refusesToRemoveAbsent {
            for (key, value) in batch.changes where value == nil && self.value(of: key) == nil { return false }
        }
        let holds = try slots.withLock { (slots) throws(VaultError) in try commit(batch, to: &slots) }
        if holds, flaw != .isSilent { feed.notify() }
        return holds
    }

    private func commit(_ batch: StoreBatch, to slots: inout [Slot]) throws(VaultError) -> Bool {
        let former = slots
        if flaw == .changesBeforeItCompares { apply(batch, to: &slots) }
        guard holds(batch, in: former) else { return false }
        if flaw == .refusesWhatChangesNothing, batch.changes.allSatisfy({ value($0.key, in: former) == $0.value }) {
            return false
        }
        if let refused = batch.changes.first(where: { isRefused($0.key, $0.value) }) {
            if flaw == .changesOneByOne || flaw == .storesBeforeItRefuses { apply(batch, to: &slots) }
            throw VaultError(.invalid, "It cannot hold the value of \(refused.key).")
        }
        apply(batch, to: &slots)
        return true
    }

    private func isRefused(_ key: String, _ value: StoredValue?) -> Bool {
        switch flaw {
        case .refusesSlashes: key.contains("/")
        case .refusesEmptyStrings: value == .string("")
        case .changesOneByOne, .storesBeforeItRefuses: value == .null
        default: false
        }
    }

    private func holds(_ batch: StoreBatch, in slots: [Slot]) -> Bool {
        batch.expectations.allSatisfy { key, expected in
            let present = value(key, in: slots)
            switch flaw {
            case .ignoresExpectations: return true
            case .overwritesWhatShouldBeAbsent: return expected == nil || present == expected
            case .comparesNumbersByValue:
                return present == expected || present?.number.map { $0 == expected?.number } ?? false
            case .neverMatchesNaN: return present == expected && present?.number?.isNaN != true
            default: return present == expected
            }
        }
    }

    private func value(_ key: String, in slots: [Slot]) -> StoredValue? {
        slots.first { $0.key.utf8.elementsEqual(named(key).utf8) }?.value
    }

    private func apply(_ batch: StoreBatch, to slots: inout [Slot]) {
        for (key, value) in batch.changes {
            if flaw == .changesOneByOne, value == .null { continue }
            let key = named(key)
            let value = kept(value)
            let index = slots.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
            if let index {
                if flaw == .keepsTheFirstValue && value != nil && slots[index].value != nil { continue }
                if flaw == .ignoresRemovals && value == nil { continue }
                slots[index].value = value
                if value == nil && flaw != .listsRemovedKeys { slots.remove(at: index) }
            } else if value != nil {
                slots.append(Slot(key: key, value: value))
            }
        }
    }

    private func named(_ key: String) -> String {
        switch flaw {
        case .cutsLongKeys: String(key.prefix(255))
        case .ignoresCase: key.lowercased()
        case .decodesPercents: key.replacing("%2F", with: "/")
        default: key
        }
    }

    private func kept(_ value: StoredValue?) -> StoredValue? {
        switch (flaw, value) {
        case (.makesRealsIntegers, .real(1)): .integer(1)
        case (.losesTheSignOfZero, .real(0)): .real(0)
        case (.dropsNaN, .real(let number)) where number.isNaN: nil
        case (.normalizesLineEnds, .string(let text)): .string(text.replacing("\r\n", with: "\n"))
        case (.trimsStrings, .string(let text)): .string(text.replacing(/^ +| +$/, with: ""))
        case (.cutsFractionsOfDates, .date(let date)):
            .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down)))
        case (.composesAccents, .string(let text)): .string(text.replacing("e\u{301}", with: "\u{e9}"))
        case (.losesTypes, .data(let data)): .string(String(decoding: data, as: UTF8.self))
        default: value
        }
    }
}

extension StoredValue {
    fileprivate var number: Double? {
        switch self {
        case .real(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }
}
