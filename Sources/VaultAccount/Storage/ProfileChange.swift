import Vault

struct ProfileChange: Equatable, Sendable {
    var fields: [String: StoredValue] = [:]
    /// The fields to remove, since the profile no longer has them.
    var cleared: Set<String> = []
    /// The stored fields at the time of the request to the server; nil if there was no request. A field that has
    /// changed since then is kept.
    var baseline: [String: StoredValue]?

    var isEmpty: Bool { fields.isEmpty && cleared.isEmpty }

    /// Returns the changes to make to the stored fields. A field whose value is nil is to be removed.
    func writes(to stored: [String: StoredValue]) -> [String: StoredValue?] {
        var writes: [String: StoredValue?] = fields.mapValues { $0 }
        for name in cleared where stored[name] != nil { writes.updateValue(nil, forKey: name) }
        guard let baseline else { return writes }
        return writes.filter { stored[$0.key] == baseline[$0.key] }
    }

    func applied(to stored: [String: StoredValue]) -> [String: StoredValue] {
        var result = stored
        for (name, value) in writes(to: stored) { result[name] = value }
        return result
    }

    func filter(_ isIncluded: (String) -> Bool) -> ProfileChange {
        ProfileChange(
            fields: fields.filter { isIncluded($0.key) }, cleared: cleared.filter(isIncluded),
            baseline: baseline?.filter { isIncluded($0.key) })
    }
}

extension ProfileChange: StoredObject {
    func toPrimitive() -> [String: StoredValue]? {
        var values = ["fields": StoredValue.dictionary(fields), "cleared": [String].stored(cleared.sorted())]
        values["baseline"] = baseline.map(StoredValue.dictionary)
        return values
    }

    static func from(primitive: [String: StoredValue]) -> ProfileChange? {
        guard let fields = primitive["fields"].flatMap([String: StoredValue].primitive(of:)),
            let cleared = primitive["cleared"].flatMap([String].primitive(of:))
        else { return nil }
        return ProfileChange(
            fields: fields, cleared: Set(cleared),
            baseline: primitive["baseline"].flatMap([String: StoredValue].primitive(of:)))
    }
}

extension AccountProfile {
    /// Returns the stored form of the profile. Throws ``VaultError/Code/invalid`` if the profile is not stored as
    /// fields, or if a field's name suggests a secret.
    func fields() throws -> [String: StoredValue] {
        guard case .dictionary(let fields)? = toPrimitive() else {
            throw VaultError(.invalid, "A profile must be a type with fields that can be stored.")
        }
        try Self.checkNames(fields.keys)
        return fields
    }

    /// Returns the change that makes the stored fields match this profile. Fields of other app versions are kept.
    func change(from stored: [String: StoredValue]) throws -> ProfileChange {
        let fields = try fields()
        let own = Self.from(primitive: .dictionary(fields))
        // A stored field that the profile lacks was cleared or belongs to another version. If decoding the profile with
        // that field added fails or gives another result, this version knows the field, so it was cleared.
        let cleared = stored.filter { name, value in
            fields[name] == nil && Self.from(primitive: .dictionary(fields.merging([name: value]) { $1 })) != own
        }
        return ProfileChange(fields: fields, cleared: Set(cleared.keys))
    }

    /// Returns how this profile differs from `baseline`, the fields that were stored at the time of the server request.
    func change(since baseline: [String: StoredValue]) throws -> ProfileChange {
        var change = try change(from: baseline)
        change.fields = change.fields.filter { baseline[$0.key] != $0.value }
        change.baseline = baseline
        return change
    }

    static func secret(_ change: ProfileChange) -> ProfileChange { change.filter(secretFields.contains) }

    static func plain(_ change: ProfileChange) -> ProfileChange { change.filter { !secretFields.contains($0) } }

    /// Throws `invalid` for fields that would be stored unencrypted although their names suggest secrets.
    static func checkNames(_ names: some Sequence<String>) throws {
        for name in names where name.isNameOfSecret && !secretFields.contains(name) && !plainFields.contains(name) {
            throw VaultError(
                .invalid,
                """
                The profile's field "\(name)" has the name of a secret, but would be stored unencrypted. Add it to \
                `secretFields` to store it in the vault, or to `plainFields` if it is not a secret.
                """)
        }
    }
}

extension String {
    private static let secrets = [
        "password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "privatekey", "secretkey",
        "accesskey", "credential", "cookie", "jwt",
    ]

    /// Whether the name ends in a word for a secret, regardless of case and separators (`apiKey`, `SESSION_TOKENS`).
    fileprivate var isNameOfSecret: Bool {
        let letters = String(decoding: lowercased().utf8.filter { $0 >= UInt8(ascii: "a") }, as: UTF8.self)
        let singular = letters.hasSuffix("s") ? String(letters.dropLast()) : letters
        return String.secrets.contains { letters.hasSuffix($0) || singular.hasSuffix($0) }
    }
}
