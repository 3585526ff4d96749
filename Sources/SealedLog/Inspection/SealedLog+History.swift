package import Sealing

extension SealedLog {
    // If reading the vault fails, these methods throw the error of that read.

    /// Returns a name's entry with its history, even if the value was removed or has expired; nil if there is no entry.
    package func history(_ name: EntryName) throws(LogError) -> Entry? {
        try read(isSure: true) { (view) throws(LogError) in try view.find(name) }
    }

    /// Opens the current or an earlier version of a name's value. Returns nil if the version is no longer kept.
    package func open(_ name: EntryName, version nonce: Nonce) throws(LogError) -> OpenedValue? {
        try certain { () throws(LogError) in
            guard let sealed = try sealed(name, version: nonce) else { return nil }
            return try OpenedValue(sealed)
        }
    }

    /// Opens a version in order to restore it. Returns nil if the version is no longer kept.
    package func openedVersion(of name: EntryName, _ nonce: Nonce) throws(LogError) -> OpenedVersion? {
        try certain { () throws(LogError) in
            guard let sealed = try sealed(name, version: nonce) else { return nil }
            return try OpenedVersion(sealed)
        }
    }

    private func sealed(_ name: EntryName, version nonce: Nonce) throws(LogError) -> SealedValue? {
        try read { (view) throws(LogError) in
            guard let found = try view.find(name)?.versions.first(where: { $0.nonce == nonce }) else { return nil }
            return try view.sealed(found)
        }
    }

    /// Finds the newest change to any name that begins with `prefix`. Returns the entries with this prefix that it set,
    /// sorted bytewise by name. Transactions in the same record count as one change.
    ///
    /// - Throws: `invalid` if the newest change is no newer than the last merge, and may be part of it; any read error.
    package func newestChange(prefix: [UInt8]) throws(LogError) -> [Entry] {
        try withSnapshot(isSure: true) { (view) throws(LogError) in try SealedLog.newestChange(of: view, prefix) }
    }

    private static func newestChange(of view: LogView, _ prefix: [UInt8]) throws(LogError) -> [Entry] {
        let cursor = view.recent.cursor(from: prefix)
        // Searches the newest first: recent entries, then the minor checkpoint's tree, and then the checkpoint's.
        var newest = try SealedLog.newest(in: EntryMerge(recent: [cursor], trees: []), prefix)
        for root in [view.minor?.root, view.header.root] where newest.isEmpty {
            let tree = try TreeCursor(root: root, loader: view.loader, from: prefix)
            newest = try SealedLog.newest(in: EntryMerge(recent: [], trees: [tree]), prefix)
        }
        if let merged = try view.manifest().merged.last, let sequence = newest.first?.sequence,
            sequence <= merged.sequence
        {
            throw LogError(.invalid, "the newest change is a merge, which cannot be undone as a whole")
        }
        return newest
    }

    private static func newest(in merge: consuming EntryMerge, _ prefix: [UInt8]) throws(LogError) -> [Entry] {
        var newest: [Entry] = []
        while let entry = try merge.next(), entry.name.bytes.starts(with: prefix) {
            // An entry salvaged from a damaged vault has sequence number 0, since no record of this vault has set it.
            if entry.sequence == 0 { continue }
            let latest = newest.first?.sequence ?? 0
            if entry.sequence > latest { newest = [] }
            if entry.sequence >= latest { newest.append(entry) }
        }
        return newest
    }
}
