package import Sealing

extension SealedLog {
    // All of these throw what reading throws.

    /// Returns the newest entry of a name with its history, also if it is absent now; nil if nothing is known of it.
    package func history(_ name: EntryName) throws(LogError) -> Entry? {
        try read(isSure: true) { (view) throws(LogError) in try view.find(name) }
    }

    /// Opens one of a name's versions, the present or an earlier one; nil if it is not kept any more.
    package func open(_ name: EntryName, version nonce: Nonce) throws(LogError) -> OpenedValue? {
        let sealed = try read { (view) throws(LogError) -> SealedValue? in
            guard let found = try view.find(name)?.versions.first(where: { $0.nonce == nonce }) else { return nil }
            return try view.sealed(found)
        }
        guard let sealed else { return nil }
        return try OpenedValue(sealed)
    }

    /// Returns the entries that the newest change has left, sorted bytewise by name: those with the latest time.
    package func newestChange() throws(LogError) -> [Entry] {
        let view = try read(isSure: true) { (view) throws(LogError) in view }
        var (merge, newest) = (try view.entries(), [Entry]())
        while let entry = try merge.next() {
            let latest = newest.first?.modified ?? 0
            if entry.modified > latest { newest = [] }
            if entry.modified >= latest { newest.append(entry) }
        }
        return newest
    }
}
