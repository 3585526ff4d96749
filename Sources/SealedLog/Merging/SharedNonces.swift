import Sealing

/// A record of the nonces of all values of a vault, to detect a nonce that two boxes share. No writer seals two values
/// with the same nonce, but a person with the data key can. Anyone who knows one of the two values can then compute the
/// other, and the key that authenticates both.
struct NonceTable {
    /// The first 8 bytes of each nonce, so that a million nonces take only 8 MB.
    private var starts: [UInt64] = []

    mutating func add(_ entry: Entry) { starts += entry.versions.map(\.nonce.start) }

    /// Returns the nonces whose first 8 bytes occur more than once. Their other bytes must still be compared.
    consuming func shared() -> SharedNonces {
        starts.sort()
        return SharedNonces(starts: Set(zip(starts, starts.dropFirst()).filter { $0 == $1 }.map(\.0)))
    }
}

/// The boxes that may share their nonce with another box.
struct SharedNonces {
    private let starts: Set<UInt64>
    private var boxes: [Nonce: [(name: EntryName, version: StoredVersion)]] = [:]

    fileprivate init(starts: Set<UInt64>) { self.starts = starts }

    var isEmpty: Bool { starts.isEmpty }

    mutating func add(_ entry: Entry) {
        for version in entry.versions where starts.contains(version.nonce.start) {
            boxes[version.nonce, default: []].append((entry.name, version))
        }
    }

    /// Returns the names of values whose boxes differ although they share a nonce. Equal boxes reveal nothing.
    func names(in store: any RecordStore) throws(LogError) -> Set<EntryName> {
        var names: Set<EntryName> = []
        for boxes in boxes.values {
            for box in boxes.dropFirst() where try !boxes[0].version.hasSameBox(in: store, as: box.version, in: store) {
                names.formUnion(boxes.map(\.name))
                break
            }
        }
        return names
    }
}

extension StoredVersion {
    /// Returns whether two boxes have the same bytes, without authenticating them. If they differ in this machine's
    /// copy of a database, compares them again in the database.
    fileprivate func hasSameBox(
        in store: any RecordStore, as other: StoredVersion, in otherStore: any RecordStore
    ) throws(LogError) -> Bool {
        guard boxLength == other.boxLength else { return false }
        if store === otherStore, box == other.box { return true }
        func isSame() throws(LogError) -> Bool {
            try store.bytes(at: offset, count: boxLength) == otherStore.bytes(at: other.offset, count: boxLength)
        }
        if try isSame() { return true }
        let isRead = [try store.machineCopy?.distrust(), try otherStore.machineCopy?.distrust()]
        return isRead.contains(true) ? try isSame() : false
    }
}

extension LogView {
    /// Returns the names of values that share a nonce but have different boxes, sorted bytewise.
    func namesSharingNonces() throws(LogError) -> [String] {
        var table = NonceTable()
        var merge = try entries()
        while let entry = try merge.next() { table.add(entry) }
        return try namesSharingNonces(of: table)
    }

    /// Returns the names of values that share a nonce but have different boxes, given a table of all entries' nonces.
    func namesSharingNonces(of table: consuming NonceTable) throws(LogError) -> [String] {
        var shared = table.shared()
        guard !shared.isEmpty else { return [] }
        var merge = try entries()
        while let entry = try merge.next() { shared.add(entry) }
        return try shared.names(in: store).sorted().map(\.text)
    }

    /// Returns whether a merge under the same data key would add a value with the nonce of another value in this vault.
    func sharesNonces(with copy: MergedCopy) throws(LogError) -> Bool {
        var ours = self
        // Only the first 8 bytes are compared. The chance that two of a million nonces match is 1 in 40 million.
        var brought: Set<UInt64> = []
        var merge = try copy.view.entries()
        while let entry = try merge.next() {
            guard copy.mayBringIn(entry) else { continue }
            let known = try ours.find(entry.name)?.versions ?? []
            for version in entry.versions {
                guard let same = known.first(where: { $0.nonce == version.nonce }) else {
                    brought.insert(version.nonce.start)
                    continue
                }
                if try !same.hasSameBox(in: store, as: version, in: copy.view.store) { return true }
            }
        }
        if brought.isEmpty { return false }
        merge = try entries()
        while let entry = try merge.next() {
            if entry.versions.contains(where: { brought.contains($0.nonce.start) }) { return true }
        }
        return false
    }
}
