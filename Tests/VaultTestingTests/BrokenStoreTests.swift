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
                "Broken rule: A batch that changes nothing is answered with true. "
                    + "The removal of an absent key was answered with false."
            ])
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
