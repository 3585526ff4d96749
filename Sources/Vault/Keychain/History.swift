public import FoundationEssentials
import LinuxSystem
package import SealedLog
public import Sealing

extension Keychain {
    /// The earlier values of names.
    public var history: History { History(keychain: self) }

    /// The earlier values of names: see ``Keychain/history``.
    ///
    /// They are sealed like all else. The vault determines how many are kept, and for how long: see ``retention()``. A
    /// value that is too old is removed when the name changes, or at the next compaction.
    public struct History: Sendable { let keychain: Keychain }
}

extension Keychain.History {
    /// A value that a name had before.
    public struct Version: Hashable, Sendable {
        /// 1 for the last one before the present value, or before the name was removed; counted backwards from there.
        public let number: Int
        /// The time at which it was set.
        public let modified: Date
        /// Its size in bytes.
        public let size: Int
        /// The name of the member who has set it; nil if none has signed it.
        public var author: String? { if case .member(let name) = signer { name } else { nil } }
        /// Its signer, even if that was no member then.
        package let signer: MemberList.Author?
        let nonce: Nonce
    }

    /// The limits on the earlier values that are kept.
    public struct Retention: Hashable, Sendable {
        /// How many earlier values of a name are kept, at most 255; 0 keeps none.
        public var versions: Int
        /// The number of days for which a replaced or removed value is kept.
        public var days: Int

        /// Creates limits; see ``setRetention(_:)``.
        public init(versions: Int, days: Int) {
            self.versions = versions
            self.days = days
        }

        init(_ kept: KeptHistory) { self.init(versions: Int(kept.versions), days: Int(kept.days)) }
    }

    /// Returns the values that a name had before, newest first, also of one that was removed.
    ///
    /// - Throws: as ``Keychain/item(_:)``.
    public func versions(of name: String) throws(VaultError) -> [Version] {
        let name = try shown(name)
        guard let entry = try keychain.translated(keychain.log.history(name)) else { return [] }
        return Version.all(entry, try keychain.translated(keychain.log.authors(of: entry)))
    }

    /// Returns a value that a name had before; nil if it is not kept any more.
    ///
    /// - Throws: as ``Keychain/get(_:)``.
    public func get(_ name: String, _ version: Version) throws(VaultError) -> SecretBytes? {
        let name = try shown(name)
        guard let opened = try keychain.translated(keychain.log.open(name, version: version.nonce)) else { return nil }
        return opened.takeBytes()
    }

    /// Restores an earlier value of a name; the present one becomes part of the history.
    ///
    /// - Parameter version: one of ``versions(of:)``; without it, the newest.
    /// - Throws: ``VaultError`` with `absent` if the name has no such version, `damaged` if that does not open; as
    ///   ``Keychain/set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
    public func restore(_ name: String, _ version: Version? = nil) throws(VaultError) {
        let chosen = if let version { version } else { try versions(of: name).first }
        guard let nonce = chosen?.nonce else { throw VaultError(.absent, "No earlier value of \"\(name)\" is kept.") }
        let entry = try shown(name)
        let gone = VaultError(.absent, "This earlier value of \"\(name)\" is not kept any more.")
        guard let opened = try keychain.translated(keychain.log.openedVersion(of: entry, nonce)) else { throw gone }
        do throws(VaultError) { try commit([Change(entry, .anything, .restore(opened))]) } catch {
            // The version's presence is the only condition of this change.
            guard error.code == .busy, try !versions(of: name).contains(where: { $0.nonce == nonce }) else {
                throw error
            }
            throw gone
        }
    }

    /// Undoes the newest change: each name in it gets the value that it had before, with its attributes and expiry, or
    /// is removed if it had none. Doing it twice makes the change again.
    ///
    /// All names of the change are restored, or none. What several threads stored at the same moment can be one change.
    ///
    /// - Returns: the names that have changed, sorted bytewise; none if there is no change.
    /// - Throws: ``VaultError`` with `absent` if a value that a name had before is not kept, `damaged` if one does not
    ///   open; `invalid` if the newest change was a merge; `busy` if another process changed one of the names
    ///   meanwhile; as ``restore(_:_:)``.
    @discardableResult
    public func undo() throws(VaultError) -> [String] {
        let entries = try keychain.translated(keychain.log.newestChange(prefix: Array(keychain.ownName("").utf8)))
        let changes = try entries.map { (entry) throws(VaultError) -> Change in
            let expected = Change.Expectation.unchanged(entry.present(at: Clock.milliseconds)?.current.nonce)
            // A name that was absent before the change is removed again.
            if entry.content?.created == entry.modified { return Change(entry.name, expected, .remove) }
            let former = try entry.earlier.first.flatMap { (former) throws(VaultError) in
                try keychain.translated(keychain.log.openedVersion(of: entry.name, former.version.nonce))
            }
            guard let former else {
                throw VaultError(
                    .absent,
                    "The value that \"\(keychain.shortened(entry.name.text))\" had before is not kept. Nothing was "
                        + "taken back.")
            }
            return Change(entry.name, expected, .restore(former))
        }
        if !changes.isEmpty { try commit(changes) }
        return changes.map { keychain.shortened($0.name.text) }
    }

    /// Removes a name, and every value that it had before. Compaction follows: see ``Keychain/eraseRemoved()``.
    ///
    /// A copy of the vault that is merged later brings none of these values back, unless it has set the name since.
    ///
    /// - Returns: whether there was a value, present or earlier.
    /// - Throws: as ``Keychain/set(_:to:attributes:expires:)-(_,SecretBytes,_,_)``.
    @discardableResult
    public func purge(_ name: String) throws(VaultError) -> Bool { try !purge([name]).isEmpty }

    /// Removes names, all or none, with every value that they had before.
    ///
    /// - Returns: the names that had a value, present or earlier.
    /// - Throws: as ``purge(_:)-(String)``.
    @discardableResult
    public func purge(_ names: [String]) throws(VaultError) -> [String] {
        let purged = try purgeable(names)
        guard !purged.isEmpty else { return [] }
        try commit(
            purged.map { (name) throws(VaultError) in Change(try shown(name), .anything, .remove, forgets: true) })
        do throws(VaultError) { try keychain.eraseRemoved() } catch {
            throw VaultError(
                error.code,
                "What was purged is removed, but its values are still in the file until the vault is compacted. "
                    + error.message, systemError: error.systemError, causes: [.valuesLeft])
        }
        return purged
    }

    /// Returns those of some names of which the file has any value.
    package func purgeable(_ names: [String]) throws(VaultError) -> [String] {
        var known: [String] = []
        for name in names {
            let shown = try shown(name)
            guard let entry = try keychain.translated(keychain.log.history(shown)) else { continue }
            // The process that purged it may have died before the compaction.
            let isLeft = entry.isForgotten ? try keychain.maintenance.information().deadBytes > 0 : false
            if !entry.isRemoved || !entry.earlier.isEmpty || isLeft { known.append(name) }
        }
        return known
    }

    /// Returns how much of the history the vault keeps.
    ///
    /// - Throws: as ``Keychain/item(_:)``.
    public func retention() throws(VaultError) -> Retention {
        Retention(try keychain.translated(keychain.log.keySlots()).history)
    }

    /// Sets how much of the history the vault keeps, for all users. Excess values are removed at once.
    ///
    /// - Throws: ``VaultError`` with `invalid` for numbers out of bounds; as ``Keychain/eraseRemoved()``.
    public func setRetention(_ retention: Retention) throws(VaultError) {
        guard (0...Limits.earlierVersionCount).contains(retention.versions), let days = UInt32(exactly: retention.days)
        else {
            throw VaultError(
                .invalid, "A history has 0 to \(Limits.earlierVersionCount) versions, kept for some days or none.")
        }
        let kept = KeptHistory(versions: UInt32(retention.versions), days: days)
        try keychain.waiting { (timeout) throws(LogError) in
            _ = try keychain.log.changeKeys(timeout: timeout) { (table) throws(LogError) in table.history = kept }
        }
    }

    /// Returns the vault's entry that a name shows here; for one that is absent, this part's own.
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
