import Vault

/// Changes to the stored fields of a profile.
struct ProfileChange: Equatable, Sendable {
    /// The fields to set.
    var fields: [String: StoredValue] = [:]
    /// The fields to remove: those that a profile no longer has.
    var cleared: Set<String> = []
    /// What was stored when the server was asked: a field that was changed since stays as it is. nil if the change
    /// counts in any case.
    var asked: [String: StoredValue]?

    var isEmpty: Bool { fields.isEmpty && cleared.isEmpty }

    /// Returns the fields to write, nil to remove them, if `stored` is there now.
    func writes(to stored: [String: StoredValue]) -> [String: StoredValue?] {
        var writes: [String: StoredValue?] = fields.mapValues { $0 }
        for name in cleared where stored[name] != nil { writes.updateValue(nil, forKey: name) }
        guard let asked else { return writes }
        return writes.filter { stored[$0.key] == asked[$0.key] }
    }

    func applied(to stored: [String: StoredValue]) -> [String: StoredValue] {
        var result = stored
        for (name, value) in writes(to: stored) { result[name] = value }
        return result
    }

    /// Returns the part of the change that is about these fields.
    func filter(_ isIncluded: (String) -> Bool) -> ProfileChange {
        ProfileChange(
            fields: fields.filter { isIncluded($0.key) }, cleared: cleared.filter(isIncluded),
            asked: asked?.filter { isIncluded($0.key) })
    }
}

extension ProfileChange: StoredObject {
    func toPrimitive() -> [String: StoredValue]? {
        var values = ["fields": StoredValue.dictionary(fields), "cleared": [String].stored(cleared.sorted())]
        values["asked"] = asked.map(StoredValue.dictionary)
        return values
    }

    static func from(primitive: [String: StoredValue]) -> ProfileChange? {
        guard let fields = primitive["fields"].flatMap([String: StoredValue].primitive(of:)),
            let cleared = primitive["cleared"].flatMap([String].primitive(of:))
        else { return nil }
        return ProfileChange(
            fields: fields, cleared: Set(cleared),
            asked: primitive["asked"].flatMap([String: StoredValue].primitive(of:)))
    }
}

extension AccountProfile {
    /// - Throws: ``VaultError/Code/invalid`` if the profile is not stored as fields, or one of them is named like a
    ///   secret.
    func fields() throws(VaultError) -> [String: StoredValue] {
        guard case .dictionary(let fields)? = toPrimitive() else {
            throw VaultError(.invalid, "A profile must be a type with fields that can be stored.")
        }
        try Self.checkNames(fields.keys)
        return fields
    }

    /// Returns the change that makes the stored fields this profile. Fields of other versions stay.
    func change(from stored: [String: StoredValue]) throws(VaultError) -> ProfileChange {
        let fields = try fields()
        let own = Self.from(primitive: .dictionary(fields))
        // A field that is left out was cleared if this version would read the stored one back, or fail to. If it reads
        // the same with it, the field is one of another version.
        let cleared = stored.filter { name, value in
            fields[name] == nil && Self.from(primitive: .dictionary(fields.merging([name: value]) { $1 })) != own
        }
        return ProfileChange(fields: fields, cleared: Set(cleared.keys))
    }

    /// Returns the change that a server's answer makes, if `asked` was stored when the question was asked.
    func change(since asked: [String: StoredValue]) throws(VaultError) -> ProfileChange {
        var change = try change(from: asked)
        change.fields = change.fields.filter { asked[$0.key] != $0.value }
        change.asked = asked
        return change
    }
}

// MARK: - Secret fields

extension AccountProfile {
    /// Returns the part of a change that is for the vault.
    static func secret(_ change: ProfileChange) -> ProfileChange { change.filter(secretFields.contains) }

    /// Returns the part of a change that is for the preferences.
    static func plain(_ change: ProfileChange) -> ProfileChange { change.filter { !secretFields.contains($0) } }
}

// MARK: - Names of secrets

extension AccountProfile {
    /// Refuses names of secrets for fields that would be stored in the clear.
    static func checkNames(_ names: some Sequence<String>) throws(VaultError) {
        for name in names where name.isNameOfSecret && !secretFields.contains(name) && !plainFields.contains(name) {
            throw VaultError(
                .invalid,
                """
                The profile's field "\(name)" is named like a secret, but would be stored in the clear. Add it to \
                `secretFields` to store it in the vault, or to `plainFields` if it is no secret.
                """)
        }
    }
}

extension String {
    private static let secrets = [
        "password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "privatekey", "secretkey",
        "accesskey", "credential", "cookie", "jwt",
    ]

    /// Whether the name ends like one of a secret, in any case and with any separators: `apiKey`, `SESSION_TOKENS`.
    fileprivate var isNameOfSecret: Bool {
        let letters = String(decoding: lowercased().utf8.filter { $0 >= UInt8(ascii: "a") }, as: UTF8.self)
        let singular = letters.hasSuffix("s") ? String(letters.dropLast()) : letters
        return String.secrets.contains { letters.hasSuffix($0) || singular.hasSuffix($0) }
    }
}
