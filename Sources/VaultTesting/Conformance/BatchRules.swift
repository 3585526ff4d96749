import FoundationEssentials
import Vault

extension StoreRule {
    package static let commitsAllOrNothing = StoreRule("Either all changes in a batch are made, or none are.") {
        store, findings in
        _ = try store.put("removed", .integer(0))
        let numbers = (0..<8).map { ("key \($0)", Optional(StoredValue.integer($0))) }
        let changes = Dictionary(uniqueKeysWithValues: numbers + [("removed", nil)])
        findings.expect(try store.commit(StoreBatch(changes)), "`commit` returned false for a batch of changes.")
        for (key, value) in changes {
            findings.expect(try store.value(of: key) == value, "A change in a batch was not made: \(key).")
        }
        // Some stores apply changes one by one, so the refused key is first in one batch and last in the other.
        guard let refused = SampleValue.refused(by: store) else { return }
        for refusedKey in ["a refused", "z refused"] {
            let batch = numbers.map { ($0.0, Optional(StoredValue.string("new"))) } + [(refusedKey, refused)]
            do {
                _ = try store.commit(StoreBatch(Dictionary(uniqueKeysWithValues: batch)))
                findings.add("A batch was accepted with a value that the store refuses.")
            } catch {}
            for (key, value) in numbers where try store.value(of: key) != value {
                findings.add("A batch was refused, but one of its changes was made.")
            }
        }
    }

    package static let commitsIfExpectationsHold = StoreRule(
        "A batch is committed if every key has its expected value, byte by byte."
    ) { store, findings in
        for sample in SampleValue.all {
            do { _ = try store.put("expected", sample.value) } catch { continue }
            let done = StoredValue.string(sample.name)
            let expected = ["expected": try store.value(of: "expected"), "absent": nil]
            let batch = StoreBatch(["done": done], expecting: expected)
            findings.expect(try store.commit(batch), "`commit` returned false for a matching value: \(sample.name).")
            findings.expect(try store.value(of: "done") == done, "The change was not made for \(sample.name).")
        }
    }

    package static let changesNothingIfOneFails = StoreRule(
        "If an expectation of a batch does not match, `commit` returns false and changes nothing."
    ) { store, findings in
        for (present, expected) in mismatches {
            _ = try store.put("expected", present)
            _ = try store.put("kept", .string("kept"))
            let batch = StoreBatch(
                ["kept": .string("lost"), "new": .integer(1), "expected": .null],
                expecting: ["kept": .string("kept"), "expected": expected])
            let mismatch = "\(present?.typeName ?? "no value") instead of \(expected?.typeName ?? "no value")"
            findings.expect(try !store.commit(batch), "`commit` returned true despite \(mismatch).")
            findings.expect(
                try store.value(of: "expected") == present && store.value(of: "new") == nil
                    && store.value(of: "kept") == .string("kept"), "A key was changed despite \(mismatch).")
            _ = try store.put("new", nil)
        }
    }

    private static let mismatches: [(StoredValue?, StoredValue?)] = [
        (.string("present"), .string("other")), (.string("present"), nil), (nil, .string("present")),
        (.real(0), .real(-0.0)), (.integer(1), .real(1)), (.boolean(true), .integer(1)), (.string("1"), .integer(1)),
        (.string("a"), .data(.init([97]))), (.string("\u{e9}"), .string("e\u{301}")), (.array([]), .dictionary([:])),
        (.array([.integer(1)]), .array([.integer(2)])), (nil, .string("")),
    ]

    package static let createsOnce = StoreRule(
        "A batch that expects a key to be absent is committed only while the key is absent."
    ) { store, findings in
        let first = StoreBatch(["key": .integer(1)], expecting: ["key": nil])
        let second = StoreBatch(["key": .integer(2)], expecting: ["key": nil])
        findings.expect(try store.commit(first), "`commit` returned false for an absent key.")
        findings.expect(try !store.commit(second), "`commit` returned true for a key that exists.")
        findings.expect(try store.value(of: "key") == .integer(1), "The existing value was replaced.")
        _ = try store.put("key", nil)
        findings.expect(try store.commit(second), "`commit` returned false after the key was removed.")
    }

    package static let acceptsEmptyBatches = StoreRule("`commit` returns true for a batch that changes nothing.") {
        store, findings in
        findings.expect(try store.put("absent", nil), "`commit` returned false for the removal of an absent key.")
        findings.expect(try store.keys(prefix: "").isEmpty, "The removal of an absent key created it.")
        findings.expect(try store.commit(StoreBatch([:])), "`commit` returned false for an empty batch.")
        _ = try store.put("key", .integer(1))
        findings.expect(try store.put("key", .integer(1)), "`commit` returned false for the same value.")
        let check = StoreBatch([:], expecting: ["key": .integer(1)])
        findings.expect(try store.commit(check), "`commit` returned false for a batch of expectations.")
        findings.expect(try store.value(of: "key") == .integer(1), "The value was changed.")
    }
}

extension SampleValue {
    /// Returns a value that the store refuses; nil if the store accepts all sample values.
    fileprivate static func refused(by store: any ValueStore) -> StoredValue? {
        let deep = (0..<2_000).reduce(StoredValue.integer(1)) { inner, _ in .array([inner]) }
        for value in all.filter(\.mayBeRefused).map(\.value) + [deep] {
            do { _ = try store.put("tried", value) } catch { return value }
        }
        return nil
    }
}
