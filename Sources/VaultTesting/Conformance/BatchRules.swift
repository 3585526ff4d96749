import FoundationEssentials
import Vault

extension StoreRule {
    package static let commitsAllOrNothing = StoreRule("All the changes of a batch are made, or none.") {
        store, findings in
        _ = try store.put("removed", .integer(0))
        let numbers = (0..<8).map { ("key \($0)", Optional(StoredValue.integer($0))) }
        let changes = Dictionary(uniqueKeysWithValues: numbers + [("removed", nil)])
        findings.expect(try store.commit(StoreBatch(changes)), "A plain batch was answered with false.")
        for (key, value) in changes {
            findings.expect(try store.value(of: key) == value, "A change of a batch was not made: \(key).")
        }
        // Two orders, for stores that make a batch's changes one after the other.
        guard let refused = SampleValue.refused(by: store) else { return }
        for refusedKey in ["a refused", "z refused"] {
            let batch = numbers.map { ($0.0, Optional(StoredValue.string("new"))) } + [(refusedKey, refused)]
            do {
                _ = try store.commit(StoreBatch(Dictionary(uniqueKeysWithValues: batch)))
                findings.add("A batch with a value that the store cannot hold was taken.")
            } catch {}
            for (key, value) in numbers where try store.value(of: key) != value {
                findings.add("A batch was refused, but one of its changes was made.")
            }
        }
    }

    package static let commitsIfExpectationsHold = StoreRule(
        "A batch is committed if every key has the value that is expected, byte by byte."
    ) { store, findings in
        for sample in SampleValue.all {
            do { _ = try store.put("expected", sample.value) } catch { continue }
            let done = StoredValue.string(sample.name)
            let expected = ["expected": try store.value(of: "expected"), "absent": nil]
            let batch = StoreBatch(["done": done], expecting: expected)
            findings.expect(try store.commit(batch), "Answered with false though it holds: \(sample.name).")
            findings.expect(try store.value(of: "done") == done, "The change was not made for \(sample.name).")
        }
    }

    package static let changesNothingIfOneFails = StoreRule(
        "A batch whose expectations do not all hold is answered with false, and changes nothing."
    ) { store, findings in
        for (present, expected) in mismatches {
            _ = try store.put("expected", present)
            _ = try store.put("kept", .string("kept"))
            let batch = StoreBatch(
                ["kept": .string("lost"), "new": .integer(1), "expected": .null],
                expecting: ["kept": .string("kept"), "expected": expected])
            let told = "\(present?.typeName ?? "no value") instead of \(expected?.typeName ?? "no value")"
            findings.expect(try !store.commit(batch), "Answered with true for \(told).")
            findings.expect(
                try store.value(of: "expected") == present && store.value(of: "new") == nil
                    && store.value(of: "kept") == .string("kept"), "Something was changed for \(told).")
            _ = try store.put("new", nil)
        }
    }

    private static let mismatches: [(StoredValue?, StoredValue?)] = [
        (.string("present"), .string("other")), (.string("present"), nil), (nil, .string("present")),
        (.real(0), .real(-0.0)), (.integer(1), .real(1)), (.boolean(true), .integer(1)), (.string("1"), .integer(1)),
        (.string("a"), .data(.init([97]))), (.string("\u{e9}"), .string("e\u{301}")), (.array([]), .dictionary([:])),
        (.array([.integer(1)]), .array([.integer(2)])), (nil, .string("")),
    ]

    package static let letsOneCreate = StoreRule(
        "A batch that expects a key to be absent is committed only while it is."
    ) { store, findings in
        let first = StoreBatch(["key": .integer(1)], expecting: ["key": nil])
        let second = StoreBatch(["key": .integer(2)], expecting: ["key": nil])
        findings.expect(try store.commit(first), "Answered with false for an absent key.")
        findings.expect(try !store.commit(second), "Answered with true for a key that is there.")
        findings.expect(try store.value(of: "key") == .integer(1), "The value that was there was replaced.")
        _ = try store.put("key", nil)
        findings.expect(try store.commit(second), "Answered with false for a key that was removed.")
    }

    package static let takesEmptyChanges = StoreRule("A batch that changes nothing is answered with true.") {
        store, findings in
        findings.expect(try store.put("absent", nil), "The removal of an absent key was answered with false.")
        findings.expect(try store.keys(prefix: "").isEmpty, "The removal of an absent key made one.")
        findings.expect(try store.commit(StoreBatch([:])), "An empty batch was answered with false.")
        _ = try store.put("key", .integer(1))
        findings.expect(try store.put("key", .integer(1)), "Writing the same value was answered with false.")
        let check = StoreBatch([:], expecting: ["key": .integer(1)])
        findings.expect(try store.commit(check), "A batch of expectations alone was answered with false.")
        findings.expect(try store.value(of: "key") == .integer(1), "The value was changed.")
    }
}

extension SampleValue {
    /// Returns a value that the store cannot hold; nil if it holds all.
    fileprivate static func refused(by store: any ValueStore) -> StoredValue? {
        let deep = (0..<2_000).reduce(StoredValue.integer(1)) { inner, _ in .array([inner]) }
        for value in all.filter(\.mayBeRefused).map(\.value) + [deep] {
            do { _ = try store.put("tried", value) } catch { return value }
        }
        return nil
    }
}
