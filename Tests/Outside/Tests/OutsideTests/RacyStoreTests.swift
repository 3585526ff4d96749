import Testing
import VaultTesting

/// Which threads meet is chance; being caught is not. A store without an issue fails here.
@Suite("The conformance suite") struct RacyStoreTests {
    /// One after the other: the threads of several would take each other's cores.
    @Test(.serialized, arguments: [RacyStore.Flaw.checksBeforeItLocks, .changesKeyByKey], 1...20)
    func catchesAStoreThatIsWrongOnlyUnderConcurrencyEachTime(_ flaw: RacyStore.Flaw, _ run: Int) async throws {
        await withKnownIssue { try await checkConformance { RacyStore(flaw) } }
    }

    /// All at once: each waits for a notice that does not come.
    @Test(arguments: 1...20) func catchesAStoreThatTellsBeforeItWritesEachTime(_ run: Int) async throws {
        await withKnownIssue { try await checkConformance { RacyStore(.tellsBeforeItWrites) } }
    }
}
