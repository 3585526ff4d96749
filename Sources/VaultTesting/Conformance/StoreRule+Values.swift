import FoundationEssentials
import Vault

extension StoreRule {
    package static let readsWhatWasWritten = StoreRule("A value that was committed is the one that is read.") {
        store, findings in
        for value in [StoredValue.string("first"), .string("second"), .integer(3), .string("first")] {
            findings.expect(try store.put("key", value), "A plain write was answered with false.")
            findings.expect(try store.value(of: "key") == value, "Another value was read than the one just written.")
        }
        findings.expect(try store.put("other", .boolean(true)), "A plain write was answered with false.")
        findings.expect(try store.value(of: "key") == .string("first"), "Writing one key changed another.")
        findings.expect(try store.put("key", nil), "A removal was answered with false.")
        findings.expect(try store.value(of: "key") == nil, "A removed value is still read.")
        findings.expect(try store.value(of: "other") == .boolean(true), "Removing one key changed another.")
    }

    package static let nilMeansAbsent = StoreRule("nil is read where there is no value, and only there.") {
        store, findings in
        findings.expect(try store.value(of: "absent") == nil, "A new store has a value.")
        findings.expect(try store.keys(prefix: "").isEmpty, "A new store has keys.")
        let empty: [(String, StoredValue)] = [
            ("string", .string("")), ("data", .data(.init())), ("array", .array([])), ("dictionary", .dictionary([:])),
            ("false", .boolean(false)), ("zero", .integer(0)),
        ]
        for (name, value) in empty {
            _ = try store.put(name, value)
            findings.expect(try store.value(of: name) == value, "An empty value is lost or changed: \(name).")
        }
        findings.expect(
            try store.keys(prefix: "") == empty.map(\.0).sorted(), "The keys of empty values are not all listed.")
        _ = try store.put("string", nil)
        findings.expect(try store.value(of: "string") == nil, "A removed value is still read.")
        findings.expect(try !store.keys(prefix: "").contains("string"), "A removed key is still listed.")
    }

    package static let keepsValuesExactly = StoreRule(
        "A value is read exactly as it was written, with its type, or is refused with `invalid` and changes nothing."
    ) { store, findings in
        for sample in SampleValue.all {
            do {
                _ = try store.put("key", sample.value)
                let read = try store.value(of: "key")
                findings.expect(
                    read.map(sample.isKept) == true,
                    "Not read as it was written, but as \(read?.typeName ?? "absent"): \(sample.name).")
            } catch let error as VaultError {
                findings.expect(
                    error.code == .invalid && sample.mayBeRefused,
                    "Refused with `\(error.code.name)`: \(sample.name).")
                findings.expect(try store.value(of: "key") == nil, "Refused, but something was stored: \(sample.name).")
            }
            _ = try store.put("key", nil)
        }
    }
}
