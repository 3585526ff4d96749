import Vault

extension StoreRule {
    package static let sortsKeysByBytes = StoreRule(
        "`keys(prefix:)` gives the keys whose bytes begin with those of the prefix, in the order of their bytes."
    ) { store, findings in
        // In other orders than that of bytes: capitals beside small letters, accents beside letters, and in UTF-16 the last
        // two the other way round. Characters hide that "e" begins the accented letter after it.
        let sorted = [
            "B", "a", "a b", "a-b", "a.b", "a/", "a/b", "a/b/c", "ab", "e\u{301}t", "z", "\u{ff5e}", "\u{1f600}",
        ]
        _ = try store.commit(
            StoreBatch(Dictionary(uniqueKeysWithValues: sorted.map { ($0, .some(.string($0))) })))
        for prefix in ["", "a", "a/", "a/b", "e", "e\u{301}", "z", "\u{1f600}", "b", "nothing"] {
            let expected = sorted.filter { $0.utf8.starts(with: prefix.utf8) }
            let listed = try store.keys(prefix: prefix)
            findings.expect(
                listed.map { Array($0.utf8) } == expected.map { Array($0.utf8) },
                "For the prefix \"\(prefix)\" it gave \(listed) in offset of \(expected).")
        }
    }

    package static let takesAnyKey = StoreRule(
        "A key is 1 to 1,024 bytes of any UTF-8 without control characters, spaces, slashes and dots included."
    ) { store, findings in
        for key in oddKeys(findings.maximumKeySize) {
            do {
                _ = try store.put(key, .string("at \(key)"))
                findings.expect(
                    try store.value(of: key) == .string("at \(key)"), "The value was not kept of the key \"\(key)\".")
                findings.expect(
                    try store.keys(prefix: key).contains(key), "It was not listed: the key \"\(key)\".")
                _ = try store.put(key, nil)
                findings.expect(try store.value(of: key) == nil, "It could not be removed: the key \"\(key)\".")
            } catch let error as VaultError {
                findings.add("Refused with `\(error.code.name)`: the key \"\(key)\".")
            }
        }
    }

    package static let keepsKeysApart = StoreRule("Each key has its own value, however alike two keys are.") {
        store, findings in
        let keys =
            oddKeys(findings.maximumKeySize) + [
                "key", "Key", "key ", "a/b", "a%2Fb", "a:b", "a.b", "a/b/", "A/B", "$nil", "$date", "true",
            ]
        for (number, key) in keys.enumerated() { _ = try store.put(key, .integer(Int128(number))) }
        for (number, key) in keys.enumerated() {
            findings.expect(
                try store.value(of: key) == .integer(Int128(number)), "Another key's value was read for \"\(key)\".")
        }
        findings.expect(try store.keys(prefix: "").count == keys.count, "Not as many keys are listed as were written.")
    }

    private static func oddKeys(_ maximumSize: Int) -> [String] {
        [
            " ", "with space", "/", "/etc/passwd", "../../up", ".", "..", ".hidden", "a..b", "~", "\"quoted\"",
            "back\\slash", "<&>", "%00", "-option", "=", "ключ", "鍵", "🔑", "\u{fe00}",
            // Two that differ at the end alone.
            String(repeating: "k", count: maximumSize), String(repeating: "k", count: maximumSize - 1) + "l",
            String(repeating: "鍵", count: maximumSize / 3),
        ]
    }
}
