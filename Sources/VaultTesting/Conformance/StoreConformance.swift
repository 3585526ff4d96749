import LinuxSystem
public import Testing
public import Vault

/// Checks that a store keeps the rules of `ValueStore`, so that keys, transactions and observation work on it.
///
/// ```swift
/// @Test func myStoreKeepsTheRules() async throws {
///     try await checkConformance { MyStore() }
/// }
/// ```
///
/// Each broken rule is recorded as an issue of the test: one sentence for the rule, and one for what happened. A store
/// may refuse values that it cannot hold with ``VaultError/Code/invalid``, if they are odd ones, such as a control
/// character or NaN.
///
/// - Parameters:
///   - maximumKeySize: the longest key in bytes, for a store that adds a prefix to its keys.
///   - makeStore: returns a new, empty store at each call, one for each rule.
/// - Throws: what `makeStore` throws.
public func checkConformance<Store: ValueStore>(
    maximumKeySize: Int = 1_024, sourceLocation: SourceLocation = #_sourceLocation, of makeStore: () throws -> Store
) async throws {
    for broken in try await brokenRules(maximumKeySize: maximumKeySize, of: makeStore) {
        Issue.record(Comment(rawValue: broken.sentence), sourceLocation: sourceLocation)
    }
}

/// Returns the rules that a store breaks, with one finding each.
package func brokenRules<Store: ValueStore>(
    maximumKeySize: Int = 1_024, of makeStore: () throws -> Store
) async throws -> [BrokenRule] {
    var broken: [BrokenRule] = []
    for rule in StoreRule.all {
        let findings = Findings(maximumKeySize: maximumKeySize)
        let store = try makeStore()
        do { try await rule.check(store, findings) } catch let error as VaultError {
            findings.add("The store threw `\(error.code.name)`: \(error.message)")
        }
        broken += findings.all.map { BrokenRule(rule: rule.sentence, finding: $0) }
    }
    let (first, second) = (try makeStore(), try makeStore())
    if first.identity == second.identity {
        broken.append(BrokenRule(rule: StoreRule.identitySentence, finding: "They have the same."))
    }
    return broken
}

/// A rule that a store has broken.
package struct BrokenRule: Hashable, Sendable {
    package let rule: String
    package let finding: String

    var sentence: String { "Broken rule: \(rule) \(finding)" }
}

/// A rule that every store must keep, and its check.
package struct StoreRule: Sendable {
    /// The rule in words.
    package let sentence: String
    let check: @Sendable (any ValueStore, Findings) async throws -> Void

    init(_ sentence: String, _ check: @escaping @Sendable (any ValueStore, Findings) async throws -> Void) {
        self.sentence = sentence
        self.check = check
    }

    static let all: [StoreRule] = [
        readsWhatWasWritten, nilMeansAbsent, keepsValuesExactly, sortsKeysByBytes, takesAnyKey, keepsKeysApart,
        commitsAllOrNothing, commitsIfExpectationsHold, changesNothingIfOneFails, letsOneCreate, takesEmptyChanges,
        losesNoUpdate, givesNotice, staysTheSame,
    ]
}

/// What a check has found: one sentence each.
final class Findings: Sendable {
    let maximumKeySize: Int
    private let sentences = Mutex<[String]>([])

    init(maximumKeySize: Int) {
        self.maximumKeySize = maximumKeySize
    }

    var all: [String] { sentences.withLock { $0 } }

    func add(_ sentence: String) {
        sentences.withLock { $0.append(sentence) }
    }

    func expect(_ isKept: Bool, _ sentence: @autoclosure () -> String) {
        if !isKept { add(sentence()) }
    }
}

extension ValueStore {
    /// Sets one value, without expectations.
    func put(_ key: String, _ value: StoredValue?) throws(VaultError) -> Bool {
        try commit(StoreBatch([key: value]))
    }
}
