import SealedLog
public import Sealing

extension Keychain {
    /// Returns the value of a name, in guarded memory; nil if there is none.
    ///
    /// - Throws: ``VaultError`` with `invalid` for an invalid name, `damaged`, `busy`, `unavailable`; `rolledBack`,
    ///   `diverged` or `exchanged` if the file was replaced meanwhile.
    public func get(_ name: String) throws(VaultError) -> SecretBytes? {
        try Keychain.checkName(name)
        return try translated { () throws(LogError) in try log.open(name) }
    }

    /// Reads the value of a name in place, in guarded memory that is wiped afterwards; nil if there is none.
    ///
    /// This is the fastest way to read a value: the guarded memory is reused.
    ///
    /// - Throws: as ``get(_:)``, or what `body` throws.
    public func withSecret<Result>(_ name: String, _ body: (RawSpan) throws -> Result) throws -> Result? {
        try Keychain.checkName(name)
        let scratch = try translated { () throws(LogError) in try log.openInScratch(name) }
        guard let scratch else { return nil }
        defer { log.putBack(scratch) }
        return try scratch.withBytes(body)
    }

    /// Returns the value of a name, in ordinary memory that is never wiped; nil if there is none.
    ///
    /// - Throws: as ``get(_:)``.
    public func unsafeBytes(_ name: String) throws(VaultError) -> [UInt8]? {
        guard let value = try get(name) else { return nil }
        return value.unsafeArray()
    }

    /// Returns the value of a name as text, in ordinary memory that is never wiped; nil if there is none.
    ///
    /// - Throws: as ``get(_:)``; `wrongType` if the value is not UTF-8.
    public func unsafeString(_ name: String) throws(VaultError) -> String? {
        guard let value = try get(name) else { return nil }
        guard let text = value.unsafeString() else {
            throw VaultError(.wrongType, "The value of \"\(name)\" is not text, but was asked for as String.")
        }
        return text
    }

    // MARK: Typed values

    // A typed value leaves guarded memory: it becomes a String, a Data, a struct. Values that must stay guarded are
    // read with ``withSecret(_:_:)`` and ``KeychainStorable/withSecret(_:)``.

    public func value(of key: String) throws(VaultError) -> StoredValue? {
        try Keychain.checkName(key)
        guard let opened = try translated({ () throws(LogError) in try log.openTagged(key) }) else { return nil }
        return try StoredValue(opened, of: key)
    }

    public func keys(prefix: String) throws(VaultError) -> [String] {
        try names(prefix: prefix)
    }

    public func contents(prefix: String) throws(VaultError) -> [String: StoredValue] {
        let values = try translated { () throws(LogError) in
            try log.openTagged(prefix: Array(prefix.utf8)) { name, opened in
                Result { () throws(VaultError) in (name.text, try StoredValue(opened, of: name.text)) }
            }
        }
        var contents: [String: StoredValue] = [:]
        for value in values {
            let (name, value) = try value.get()
            contents[name] = value
        }
        return contents
    }
}

extension StoredValue {
    /// - Throws: ``VaultError/Code/unreadable`` if a later version wrote the value, or its bytes do not fit its kind.
    init(_ opened: borrowing OpenedValue, of key: String) throws(VaultError) {
        let value = opened.bytes.withUnsafeBytes { StoredValue(kind: ValueKind(rawValue: opened.kind), $0) }
        guard let value else {
            throw VaultError(
                .unreadable,
                "The value of \"\(key)\" is of the kind \(opened.kind), which this version of the library cannot read.")
        }
        self = value
    }
}
