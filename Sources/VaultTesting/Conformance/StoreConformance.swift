public import Testing
public import Vault

/// Checks that a store follows the rules of `ValueStore`, on which keys, transactions and observation rely.
///
/// Each violation is recorded as an issue of the test. <doc:IsolatedTests> lists the rules, with an example. A store
/// may refuse unusual values, such as a control character or NaN, with ``VaultError/Code/invalid``.
///
/// - Parameters:
///   - maximumKeySize: the maximum key size in bytes, for a store that adds a prefix to its keys.
///   - makeStore: returns a new, empty store on each call. It is called once for each rule, and two more times.
/// - Throws: the errors of `makeStore`.
public func checkConformance<Store: ValueStore>(
    maximumKeySize: Int = 1_024, sourceLocation: SourceLocation = #_sourceLocation, of makeStore: () throws -> Store
) async throws {
    for (rule, finding) in try await brokenRules(maximumKeySize: maximumKeySize, of: makeStore) {
        Issue.record(Comment(rawValue: "Broken rule: \(rule) \(finding)"), sourceLocation: sourceLocation)
    }
}

/// Returns the findings, each with the rule that the store breaks.
package func brokenRules<Store: ValueStore>(
    among rules: [StoreRule] = StoreRule.all, maximumKeySize: Int = 1_024, of makeStore: () throws -> Store
) async throws -> [(rule: String, finding: String)] {
    var broken: [(rule: String, finding: String)] = []
    for rule in rules {
        var findings = Findings(maximumKeySize: maximumKeySize)
        let store = try makeStore()
        do { try await rule.check(store, &findings) } catch let error as VaultError {
            findings.add("The store threw `\(error.code.name)`: \(error.message)")
        }
        broken += findings.all.map { (rule.sentence, $0) }
    }
    let first = try makeStore()
    let second = try makeStore()
    if first.identity == second.identity {
        broken.append((StoreRule.identitySentence, "Two new stores have the same identity."))
    }
    return broken
}

package struct StoreRule: Sendable {
    package let sentence: String
    let check: @Sendable (any ValueStore, inout Findings) async throws -> Void

    init(_ sentence: String, _ check: @escaping @Sendable (any ValueStore, inout Findings) async throws -> Void) {
        self.sentence = sentence
        self.check = check
    }

    package static let all: [StoreRule] = [
        readsWhatWasWritten, nilMeansAbsent, keepsValuesExactly, sortsKeysByBytes, acceptsAnyKey, keepsKeysApart,
        commitsAllOrNothing, commitsIfExpectationsHold, changesNothingIfOneFails, createsOnce, acceptsEmptyBatches,
        losesNoUpdate, showsWholeBatches, notifiesAfterCommits, notifiesAfterChanges, staysTheSame,
    ]
}

/// The rule violations that a check has found, one sentence each.
struct Findings: Sendable {
    let maximumKeySize: Int
    private(set) var all: [String] = []

    mutating func add(_ sentence: String) { all.append(sentence) }
    mutating func expect(_ isKept: Bool, _ sentence: @autoclosure () -> String) { if !isKept { add(sentence()) } }
}

extension ValueStore {
    func put(_ key: String, _ value: StoredValue?) throws(VaultError) -> Bool { try commit(StoreBatch([key: value])) }
}
