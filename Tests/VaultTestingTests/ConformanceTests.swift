import FoundationEssentials
import LinuxSystem
import Sealing
import TestSupport
import Testing
import Vault

/// Concurrent updates are among the rules.
@Suite("The conformance suite, and concurrent updates")
struct ConformanceConcurrencyTests {
    @Test func theKeychainKeepsTheRules() async throws {
        let made = Made()
        try await checkConformance { try made.stores().keychain }
    }

    @Test func thePreferencesKeepTheRules() async throws {
        let made = Made()
        try await checkConformance { try made.stores().preferences }
    }

    @Test func theMemoryStoreKeepsTheRules() async throws {
        try await checkConformance { MemoryStore() }
    }

    @Test func aScopeOfTheKeychainKeepsTheRules() async throws {
        let made = Made()
        // Each key is prefixed with the scope, its slash and percent sign encoded, and a slash.
        try await checkConformance(maximumKeySize: 1_024 - "a user%2Fwith 100%25/".utf8.count) {
            try made.stores().keychain.scoped(to: "a user/with 100%")
        }
    }

    @Test func aScopeOfThePreferencesKeepsTheRules() async throws {
        let made = Made()
        try await checkConformance(maximumKeySize: 1_024 - "user/".utf8.count) {
            try made.stores().preferences.scoped(to: "user")
        }
    }

    @Test func aScopeOfAScopeOfTheMemoryStoreKeepsTheRules() async throws {
        try await checkConformance { MemoryStore().scoped(to: "a").scoped(to: "b") }
    }

    @Test func whatTheMakerThrowsIsThrown() async throws {
        await #expect(throws: CancellationError.self) {
            try await checkConformance { () throws -> MemoryStore in throw CancellationError() }
        }
    }
}

@Suite("The conformance suite, and stores that break its rules")
struct BrokenStoreTests {
    @Test(arguments: BrokenStore.Flaw.allCases) func aBrokenStoreIsCaught(_ flaw: BrokenStore.Flaw) async throws {
        let broken = try await brokenRules(among: [flaw.rule].compactMap(\.self)) { BrokenStore(flaw) }
        #expect(broken.contains { $0.rule == flaw.rule?.sentence ?? StoreRule.identitySentence })
    }

    @Test func aBrokenStoreIsAnIssueThatNamesTheRule() async throws {
        let recorded = Mutex<[String]>([])
        try await withKnownIssue {
            try await checkConformance { BrokenStore(.refusesToRemoveAbsent) }
        } matching: { issue in
            recorded.withLock { $0 += issue.comments.map(\.rawValue) }
            return true
        }
        let sentences = recorded.withLock { $0 }
        #expect(
            sentences == [
                "Broken rule: A batch that changes nothing is answered with true. "
                    + "The removal of an absent key was answered with false."
            ])
    }
}

/// Retains stores for as long as a test uses what is in them.
private final class Made: Sendable {
    private let all = Mutex<[TemporaryStores]>([])

    func stores() throws -> TemporaryStores {
        let stores = try TemporaryStores()
        all.withLock { $0.append(stores) }
        return stores
    }
}

extension BrokenStore.Flaw {
    /// Returns the rule that it breaks; nil for the one about two stores.
    fileprivate var rule: StoreRule? {
        switch self {
        case .keepsTheFirstValue: .readsWhatWasWritten
        case .ignoresRemovals, .takesEmptyForAbsent, .listsRemovedKeys: .nilMeansAbsent
        case .makesRealsIntegers, .losesTheSignOfZero, .dropsNaN, .normalizesLineEnds, .trimsStrings,
            .cutsFractionsOfDates, .refusesEmptyStrings, .storesBeforeItRefuses, .composesAccents, .losesTypes:
            .keepsValuesExactly
        case .sortsKeysAsUTF16, .matchesPrefixesByCharacters, .ignoresThePrefix:
            .sortsKeysByBytes
        case .refusesSlashes, .cutsLongKeys: .takesAnyKey
        case .ignoresCase, .decodesPercents: .keepsKeysApart
        case .changesOneByOne: .commitsAllOrNothing
        case .neverMatchesNaN: .commitsIfExpectationsHold
        case .ignoresExpectations, .comparesNumbersByValue, .changesBeforeItCompares:
            .changesNothingIfOneFails
        case .overwritesWhatShouldBeAbsent: .letsOneCreate
        case .refusesToRemoveAbsent, .refusesWhatChangesNothing: .takesEmptyChanges
        case .isSilent: .givesNotice
        case .hasManyIdentities, .hasManyFeeds: .staysTheSame
        case .hasOneIdentityForAll: nil
        }
    }
}
