import FoundationEssentials
import Vault

extension StoreRule {
    package static let readsWhatWasWritten = StoreRule("Reading a key returns the value that was committed.") {
        store, findings in
        for value in [StoredValue.string("first"), .string("second"), .integer(3), .string("first")] {
            findings.expect(try store.put("key", value), "`commit` returned false for a plain write.")
            findings.expect(try store.value(of: "key") == value, "The value that was read is not the one just written.")
        }
        findings.expect(try store.put("other", .boolean(true)), "`commit` returned false for a plain write.")
        findings.expect(try store.value(of: "key") == .string("first"), "Writing one key changed another.")
        findings.expect(try store.put("key", nil), "`commit` returned false for a removal.")
        findings.expect(try store.value(of: "key") == nil, "A removed value can still be read.")
        findings.expect(try store.value(of: "other") == .boolean(true), "Removing one key changed another.")
    }

    package static let nilMeansAbsent = StoreRule("Reading returns nil if there is no value, and only then.") {
        store, findings in
        findings.expect(try store.value(of: "absent") == nil, "A new store already has a value.")
        findings.expect(try store.keys(prefix: "").isEmpty, "A new store already has keys.")
        let empty: [(String, StoredValue)] = [
            ("string", .string("")), ("data", .data(.init())), ("array", .array([])), ("dictionary", .dictionary([:])),
            ("false", .boolean(false)), ("zero", .integer(0)),
        ]
        for (name, value) in empty {
            _ = try store.put(name, value)
            findings.expect(try store.value(of: name) == value, "An empty value was lost or changed: \(name).")
        }
        let keys = try store.keys(prefix: "")
        findings.expect(keys == empty.map(\.0).sorted(), "Not all keys with empty values are listed.")
        _ = try store.put("string", nil)
        findings.expect(try store.value(of: "string") == nil, "A removed value can still be read.")
        findings.expect(try !store.keys(prefix: "").contains("string"), "A removed key is still listed.")
    }

    package static let keepsValuesExactly = StoreRule(
        "A value reads back exactly as written, with its type, or is refused with `invalid` and changes nothing."
    ) { store, findings in
        for sample in SampleValue.all {
            do throws(VaultError) {
                _ = try store.put("key", sample.value)
                let read = try store.value(of: "key")
                let finding = "Written, but \(read?.typeName ?? "nothing") was read: \(sample.name)."
                findings.expect(read.map(sample.isKept) == true, finding)
            } catch {
                let isFine = error.code == .invalid && sample.mayBeRefused
                findings.expect(isFine, "Refused with `\(error.code.name)`: \(sample.name).")
                findings.expect(try store.value(of: "key") == nil, "Refused, but something was stored: \(sample.name).")
            }
            _ = try store.put("key", nil)
        }
    }

    package static let sortsKeysByBytes = StoreRule(
        "`keys(prefix:)` returns the keys whose bytes begin with those of the prefix, sorted bytewise."
    ) { store, findings in
        // Alphabetical order would mix capitals with small letters, and accented letters with plain ones. UTF-16 order
        // would swap U+FF5E and U+1F600. If characters were compared, "e" would not be a prefix of "e\u{301}".
        let sorted = [
            "B", "a", "a b", "a-b", "a.b", "a/", "a/b", "a/b/c", "ab", "e\u{301}t", "z", "\u{ff5e}", "\u{1f600}",
        ]
        _ = try store.commit(StoreBatch(Dictionary(uniqueKeysWithValues: sorted.map { ($0, .some(.string($0))) })))
        for prefix in ["", "a", "a/", "a/b", "e", "e\u{301}", "z", "\u{1f600}", "b", "nothing"] {
            let expected = sorted.filter { $0.utf8.starts(with: prefix.utf8) }
            let listed = try store.keys(prefix: prefix)
            findings.expect(
                listed.map { Array($0.utf8) } == expected.map { Array($0.utf8) },
                "For the prefix \"\(prefix)\", the store listed \(listed) instead of \(expected).")
        }
    }

    package static let acceptsAnyKey = StoreRule(
        "A key is any UTF-8 text of 1 to 1,024 bytes without control characters. Spaces, slashes and dots are allowed."
    ) { store, findings in
        for key in oddKeys(findings.maximumKeySize) {
            do throws(VaultError) {
                _ = try store.put(key, .string("at \(key)"))
                let isKept = try store.value(of: key) == .string("at \(key)")
                findings.expect(isKept, "The key \"\(key)\" was not stored.")
                findings.expect(try store.keys(prefix: key).contains(key), "The key \"\(key)\" was not listed.")
                _ = try store.put(key, nil)
                findings.expect(try store.value(of: key) == nil, "The key \"\(key)\" could not be removed.")
            } catch {
                findings.add("The key \"\(key)\" was refused with `\(error.code.name)`.")
            }
        }
    }

    package static let keepsKeysApart = StoreRule("Each key has its own value, however similar two keys are.") {
        store, findings in
        let keys =
            oddKeys(findings.maximumKeySize) + [
                "key", "Key", "key ", "a/b", "a%2Fb", "a:b", "a.b", "a/b/", "A/B", "$nil", "$date", "true",
            ]
        for (number, key) in keys.enumerated() { _ = try store.put(key, .integer(Int128(number))) }
        for (number, key) in keys.enumerated() where try store.value(of: key) != .integer(Int128(number)) {
            findings.add("Another key's value was read for \"\(key)\".")
        }
        findings.expect(
            try store.keys(prefix: "").count == keys.count,
            "The number of listed keys differs from the number of written keys.")
    }

    private static func oddKeys(_ maximumSize: Int) -> [String] {
        [
            " ", "with space", "/", "/etc/passwd", "../../up", ".", "..", ".hidden", "a..b", "~", "\"quoted\"",
            "back\\slash", "<&>", "%00", "-option", "=", "ключ", "鍵", "🔑", "\u{fe00}",
            // The next two keys differ only in the last byte, so a store that truncates keys would confuse them.
            String(repeating: "k", count: maximumSize), String(repeating: "k", count: maximumSize - 1) + "l",
            String(repeating: "鍵", count: maximumSize / 3),
        ]
    }
}
