import SealedLog
public import Sealing

extension Keychain {
    /// The value of a name, in guarded memory; nil if there is none.
    ///
    /// - Throws: ``VaultError`` with `invalid` for what is no name, `damaged`, `busy`, `unavailable`; `rolledBack`,
    ///   `diverged` or `exchanged` if the file was replaced meanwhile.
    public func get(_ name: String) throws(VaultError) -> SecretBytes? {
        try Keychain.checkName(name)
        return try translated { () throws(LogError) in try log.open(name) }
    }

    /// Reads the value of a name in place, in guarded memory that is wiped afterwards; nil if there is none.
    ///
    /// This is the fastest way to a value: the guarded memory is used again and again.
    ///
    /// - Throws: as ``get(_:)``, or what `body` throws.
    public func withSecret<Result>(_ name: String, _ body: (RawSpan) throws -> Result) throws -> Result? {
        try Keychain.checkName(name)
        let scratch = try translated { () throws(LogError) in try log.openInScratch(name) }
        guard let scratch else { return nil }
        defer { log.putBack(scratch) }
        return try scratch.withBytes(body)
    }

    /// The value of a name, in ordinary memory that nobody wipes; nil if there is none.
    ///
    /// - Throws: as ``get(_:)``.
    public func unsafeBytes(_ name: String) throws(VaultError) -> [UInt8]? {
        guard let value = try get(name) else { return nil }
        return value.unsafeArray()
    }

    /// The value of a name as text, in ordinary memory that nobody wipes; nil if there is none.
    ///
    /// - Throws: as ``get(_:)``; `wrongType` if the value is not UTF-8.
    public func unsafeString(_ name: String) throws(VaultError) -> String? {
        guard let value = try get(name) else { return nil }
        guard let text = value.unsafeString() else {
            throw VaultError(.wrongType, "The value of \"\(name)\" is not text, but was asked for as String.")
        }
        return text
    }

    /// Whether a name is there. Its value is not opened.
    ///
    /// - Throws: as ``get(_:)``.
    public func exists(_ name: String) throws(VaultError) -> Bool {
        try item(name) != nil
    }

    /// Runs an operation of the log and tells its errors in this module's words, and what else it met.
    func translated<Result: ~Copyable>(_ body: () throws(LogError) -> Result) throws(VaultError) -> Result {
        defer { reportNotices() }
        do { return try body() } catch { throw VaultError(error, places) }
    }

    /// The same for what has to have the vault for itself, which may take its time.
    func waiting<Result>(_ body: (_ timeout: Duration) throws(LogError) -> Result) throws(VaultError) -> Result {
        try translated { () throws(LogError) in try patience.wait(body) }
    }

    var patience: LockPatience { LockPatience(options, path: places.vault) }

    /// Reports what the log has met that fails no call. No lock is held.
    func reportNotices() {
        for notice in log.takeNotices() { failures.report(VaultError(notice, places), key: places.vault) }
    }

    func checked(_ name: String) throws(VaultError) -> EntryName {
        guard let name = EntryName(name) else { throw Keychain.invalidName(name) }
        return name
    }

    /// Checks that a text can be a name, before anything is made for it.
    ///
    /// - Throws: ``VaultError`` with `invalid` unless it has 1 to 1,024 bytes of UTF-8 without control characters.
    public static func checkName(_ name: String) throws(VaultError) {
        guard name.utf8.span.bytes.withUnsafeBytes(EntryName.isValid) else { throw invalidName(name) }
    }

    static func invalidName(_ name: String) -> VaultError {
        let reason =
            if name.isEmpty { "empty" } else if name.utf8.count > Limits.nameSize {
                "longer than 1,024 bytes"
            } else { "it contains a control character, such as a newline or a tab" }
        return VaultError(.invalid, "Invalid name: \(reason).")
    }
}
