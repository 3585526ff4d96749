import Testing
import VaultTesting

@Suite("The conformance suite") struct RacyStoreTests {
    /// Which threads meet is chance; being caught is not. A store without an issue fails here.
    @Test(arguments: RacyStore.Flaw.allCases, 1...20)
    func catchesAStoreThatIsWrongOnlyUnderConcurrencyEachTime(_ flaw: RacyStore.Flaw, _ run: Int) async throws {
        await withKnownIssue { try await checkConformance { RacyStore(flaw) } }
    }
}
