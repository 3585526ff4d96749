import LinuxSystem
import TestSupport
import Testing
import Vault

@Suite(
    "The conformance suite, and stores that break its rules",
    .disabled(if: Sanitizer.isAddress, "calls meet too seldom under the sanitizer"))
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
                "Broken rule: `commit` returns true for a batch that changes nothing. "
                    + "`commit` returned false for the removal of an absent key."
            ])
    }
}

extension BrokenStore.Flaw {
    /// The rule that the store breaks; nil for the rule about two stores.
    fileprivate var rule: StoreRule? {
        switch self {
        case .keepsTheFirstValue: .readsWhatWasWritten
        case .ignoresRemovals, .takesEmptyForAbsent, .listsRemovedKeys: .nilMeansAbsent
        case .makesRealsIntegers, .losesTheSignOfZero, .dropsNaN, .normalizesLineEnds, .trimsStrings,
            .cutsFractionsOfDates, .refusesEmptyStrings, .storesBeforeItRefuses, .composesAccents, .losesTypes:
            .keepsValuesExactly
        case .sortsKeysAsUTF16, .matchesPrefixesByCharacters, .ignoresThePrefix:
            .sortsKeysByBytes
        case .refusesSlashes, .cutsLongKeys: .acceptsAnyKey
        case .ignoresCase, .decodesPercents: .keepsKeysApart
        case .changesOneByOne: .commitsAllOrNothing
        case .neverMatchesNaN: .commitsIfExpectationsHold
        case .ignoresExpectations, .comparesNumbersByValue, .changesBeforeItCompares:
            .changesNothingIfOneFails
        case .overwritesWhatShouldBeAbsent: .createsOnce
        case .refusesToRemoveAbsent, .refusesWhatChangesNothing: .acceptsEmptyBatches
        case .isSilent: .notifiesAfterCommits
        case .hasManyIdentities, .hasManyFeeds: .staysTheSame
        case .hasOneIdentityForAll: nil
        }
    }
}
