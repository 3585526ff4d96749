public import Testing
public import Vault

/// Checks that a store keeps the rules of `ValueStore`: that keys, transactions and observation work over it.
///
/// ```swift
/// @Test func myStoreKeepsTheRules() async throws {
///     try await checkConformance { MyStore() }
/// }
/// ```
///
/// Each broken rule is recorded as an issue of the test: one sentence that says the rule, and one that says what happened.
/// A value of a kind that the store cannot hold may be refused with ``VaultError/Code/invalid``, as long as it is an odd one: a
/// control character, a number that is none.
///
/// - Parameters:
///   - maximumKeySize: the longest key in bytes, for a store that puts something before the keys it is given.
///   - makeStore: gives a new, empty store at each call, one for each rule.
/// - Throws: what `makeStore` throws.
public func checkConformance<Store: ValueStore>(
    maximumKeySize: Int = 1_024, sourceLocation: SourceLocation = #_sourceLocation, of makeStore: () throws -> Store
) async throws {
    for broken in try await brokenRules(maximumKeySize: maximumKeySize, of: makeStore) {
        Issue.record(Comment(rawValue: broken.sentence), sourceLocation: sourceLocation)
    }
}

/// The rules that a store breaks, one finding at a time.
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
