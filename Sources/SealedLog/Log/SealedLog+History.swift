package import Sealing

extension SealedLog {
    // All of these throw what reading throws.

    /// Returns the newest entry of a name with its history, also if it is absent now; nil if nothing is known of it.
    package func history(_ name: EntryName) throws(LogError) -> Entry? {
        try read(isSure: true) { (view) throws(LogError) in try view.find(name) }
    }

    /// Opens one of a name's versions, the present or an earlier one; nil if it is not kept any more.
    package func open(_ name: EntryName, version nonce: Nonce) throws(LogError) -> OpenedValue? {
        try certain { () throws(LogError) in
            guard let sealed = try sealed(name, version: nonce) else { return nil }
            return try OpenedValue(sealed)
        }
    }

    /// Does the same for a version that is to become the present one.
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

    /// Returns the entries that the newest change has left, of the names with a prefix, sorted bytewise by name: those
    /// that the latest record among all that set any of them has set. Of transactions that were written together, in
    /// one record, it returns all.
    ///
    /// - Throws: `invalid` if the newest change was a merge; what reading throws.
    package func newestChange(prefix: [UInt8]) throws(LogError) -> [Entry] {
        try withSnapshot(isSure: true) { (view) throws(LogError) in try SealedLog.newestChange(of: view, prefix) }
    }

    private static func newestChange(of view: LogView, _ prefix: [UInt8]) throws(LogError) -> [Entry] {
        let cursor = view.recent.cursor(from: prefix)
        // What is recent is newer than what is in a tree, and the minor checkpoint is newer than the checkpoint.
        var newest = try SealedLog.newest(in: EntryMerge(recent: [cursor], trees: []), prefix)
        for root in [view.minor?.root, view.header.root] where newest.isEmpty {
            let tree = try TreeCursor(root: root, loader: view.loader, from: prefix)
            newest = try SealedLog.newest(in: EntryMerge(recent: [], trees: [tree]), prefix)
        }
        if let merged = try view.manifest().merged.last, let sequence = newest.first?.sequence,
            sequence <= merged.sequence
        {
            throw LogError(.invalid, "the newest change is a merge, which cannot be taken back as a whole")
        }
        return newest
    }

    private static func newest(in merge: consuming EntryMerge, _ prefix: [UInt8]) throws(LogError) -> [Entry] {
        var newest: [Entry] = []
        while let entry = try merge.next(), entry.name.bytes.starts(with: prefix) {
            let latest = newest.first?.sequence ?? 0
            if entry.sequence > latest { newest = [] }
            if entry.sequence >= latest { newest.append(entry) }
        }
        return newest
    }
}
