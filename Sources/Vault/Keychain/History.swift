public import FoundationEssentials
import LinuxSystem
package import SealedLog

extension Keychain {
    /// The earlier values of entries.
    public var history: History { History(keychain: self) }

    /// The earlier values of entries; see ``Keychain/history``.
    ///
    /// Earlier values are sealed like current ones. The vault limits their number and age; see ``retention()``. A value
    /// that is too old is removed the next time its entry is changed or the vault is compacted.
    public struct History: Sendable { let keychain: Keychain }
}

extension Keychain.History {
    /// An earlier value of an entry.
    public struct Version: Hashable, Sendable {
        /// The version's number: 1 for the newest earlier value, 2 for the one before it, and so on.
        public let number: Int
        /// The time at which the value was set.
        public let modified: Date
        /// The value's size in bytes.
        public let size: Int
        /// The name of the member who set and signed the value; nil if no member signed it.
        public var author: String? { if case .member(let name) = signer { name } else { nil } }
        /// The value's signer, who was not necessarily a member when the value was signed.
        package let signer: MemberList.Author?
        let nonce: Nonce
    }

    /// The limits on the earlier values that are kept.
    public struct Retention: Hashable, Sendable {
        /// The maximum number of earlier values that are kept for each entry, from 0 to 255.
        public var versions: Int
        /// The number of days for which a replaced or removed value is kept.
        public var days: Int

        /// Creates limits for ``setRetention(_:)``.
        public init(versions: Int, days: Int) {
            self.versions = versions
            self.days = days
        }

        init(_ kept: KeptHistory) { self.init(versions: Int(kept.versions), days: Int(kept.days)) }
    }

    /// Returns the earlier values of an entry, newest first, even if the entry was removed.
    ///
    /// - Throws: the same errors as ``Keychain/item(_:)``.
    public func versions(of name: String) throws(VaultError) -> [Version] {
        let name = try shown(name)
        guard let entry = try keychain.translated(keychain.log.history(name)) else { return [] }
        return Version.all(entry, try keychain.translated(keychain.log.authors(of: entry)))
    }

    /// Returns an earlier value of an entry; nil if the vault no longer has that value.
    ///
    /// - Throws: the same errors as ``Keychain/get(_:)``.
    public func get(_ name: String, _ version: Version) throws(VaultError) -> SecretBytes? {
        let name = try shown(name)
        guard let opened = try keychain.translated(keychain.log.open(name, version: version.nonce)) else { return nil }
        return opened.takeBytes()
    }

    /// Restores an earlier value of an entry. The current value becomes part of the history.
    ///
    /// - Parameter version: one of ``versions(of:)``, by default the newest.
    /// - Throws: ``VaultError`` with `absent` if the entry does not have the version, `damaged` if the version cannot
    ///   be opened; the same errors as ``Keychain/set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
    public func restore(_ name: String, _ version: Version? = nil) throws(VaultError) {
        let chosen = if let version { version } else { try versions(of: name).first }
        guard let nonce = chosen?.nonce else { throw VaultError(.absent, "No earlier value of \"\(name)\" is kept.") }
        let entry = try shown(name)
        let gone = VaultError(.absent, "This earlier value of \"\(name)\" is no longer kept.")
        guard let opened = try keychain.translated(keychain.log.openedVersion(of: entry, nonce)) else { throw gone }
        do throws(VaultError) { try commit([Change(entry, .anything, .restore(opened))]) } catch {
            // This change requires only that the earlier value exists, so `busy` may mean that it has been dropped.
            guard error.code == .busy, try !versions(of: name).contains(where: { $0.nonce == nonce }) else {
                throw error
            }
            throw gone
        }
    }

    /// Undoes the newest change. Restores the former value, attributes and expiry of each affected entry, and removes
    /// each entry that the change created. All entries are restored, or none. A second call undoes the first. Changes
    /// that several threads make at the same time may count as one change.
    ///
    /// - Returns: the names of the affected entries, sorted bytewise; empty if there is no change to undo.
    /// - Throws: ``VaultError`` with `absent` if a former value is no longer in the history, `damaged` if a former
    ///   value cannot be opened, `invalid` if the newest change was a merge, `busy` if another process has concurrently
    ///   changed one of the entries; the same errors as ``restore(_:_:)``.
    @discardableResult
    public func undo() throws(VaultError) -> [String] {
        let entries = try keychain.translated(keychain.log.newestChange(prefix: Array(keychain.ownName("").utf8)))
        let changes = try entries.map { (entry) throws(VaultError) -> Change in
            let expected = Change.Expectation.unchanged(entry.present(at: Clock.milliseconds)?.current.nonce)
            // The change created this entry, so undoing the change removes the entry.
            if entry.content?.created == entry.modified { return Change(entry.name, expected, .remove) }
            let former = try entry.earlier.first.flatMap { (former) throws(VaultError) in
                try keychain.translated(keychain.log.openedVersion(of: entry.name, former.version.nonce))
            }
            guard let former else {
                throw VaultError(
                    .absent,
                    "The previous value of \"\(keychain.shortened(entry.name.text))\" is no longer kept. Nothing "
                        + "was undone.")
            }
            return Change(entry.name, expected, .restore(former))
        }
        if !changes.isEmpty { try commit(changes) }
        return changes.map { keychain.shortened($0.name.text) }
    }

    /// Removes an entry and all its earlier values, then compacts the vault as ``Keychain/eraseRemoved()`` does.
    ///
    /// A later merge of another copy does not bring these values back, unless the name has been set again in that copy.
    ///
    /// - Returns: whether the entry had a current or earlier value.
    /// - Throws: the same errors as ``Keychain/set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
    @discardableResult
    public func purge(_ name: String) throws(VaultError) -> Bool { try !purge([name]).isEmpty }

    /// Removes several entries and all their earlier values atomically, then compacts the vault.
    ///
    /// - Returns: the names that had a current or earlier value.
    /// - Throws: the same errors as ``purge(_:)-(String)``.
    @discardableResult
    public func purge(_ names: [String]) throws(VaultError) -> [String] {
        let purged = try purgeable(names)
        guard !purged.isEmpty else { return [] }
        try commit(
            purged.map { (name) throws(VaultError) in Change(try shown(name), .anything, .remove, forgets: true) })
        do throws(VaultError) { try keychain.eraseRemoved() } catch {
            throw VaultError(
                error.code,
                "The purged names are removed, but their values stay in the file until the vault is compacted. "
                    + error.message, systemError: error.systemError, causes: [.valuesLeft])
        }
        return purged
    }

    /// Returns the names that have a current or earlier value, or a purged value that no compaction has dropped yet.
    package func purgeable(_ names: [String]) throws(VaultError) -> [String] {
        var known: [String] = []
        for name in names {
            let shown = try shown(name)
            guard let entry = try keychain.translated(keychain.log.history(shown)) else { continue }
            // If the process that purged the name died before the compaction, the values are still in the file.
            let isLeft = entry.isForgotten ? try keychain.maintenance.information().deadBytes > 0 : false
            if !entry.isRemoved || !entry.earlier.isEmpty || isLeft { known.append(name) }
        }
        return known
    }

    /// Returns the limits on the earlier values that the vault keeps.
    ///
    /// - Throws: the same errors as ``Keychain/item(_:)``.
    public func retention() throws(VaultError) -> Retention {
        Retention(try keychain.translated(keychain.log.keySlots()).history)
    }

    /// Sets the limits on earlier values for all users of the vault, and removes excess values immediately.
    ///
    /// - Throws: ``VaultError`` with `invalid` if a limit is out of range; the errors of ``Keychain/eraseRemoved()``.
    public func setRetention(_ retention: Retention) throws(VaultError) {
        guard (0...Limits.earlierVersionCount).contains(retention.versions), let days = UInt32(exactly: retention.days)
        else {
            throw VaultError(
                .invalid, "A history can have 0 to \(Limits.earlierVersionCount) versions, kept for 0 or more days.")
        }
        let kept = KeptHistory(versions: UInt32(retention.versions), days: days)
        try keychain.waiting { (timeout) throws(LogError) in
            _ = try keychain.log.changeKeys(timeout: timeout) { (table) throws(LogError) in table.history = kept }
        }
    }

    /// Returns the vault's name for the entry to which `name` refers in the keychain; see ``Keychain/shownName(_:)``.
    private func shown(_ name: String) throws(VaultError) -> EntryName {
        guard let shown = EntryName(try keychain.shownName(name)) else { throw Naming.name.refusal(of: name) }
        return shown
    }

    private func commit(_ list: [Change]) throws(VaultError) {
        guard try keychain.commit(ChangeList(list)) else { throw .contended }
    }
}

extension Keychain.History.Version {
    fileprivate static func all(_ entry: Entry, _ authors: [Nonce: MemberList.Author]) -> [Self] {
        entry.earlier.enumerated().map { index, earlier in
            Self(
                number: index + 1, modified: Date(milliseconds: earlier.modified), size: earlier.version.length,
                signer: authors[earlier.version.nonce], nonce: earlier.version.nonce)
        }
    }
}
