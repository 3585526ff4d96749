import LinuxSystem
import Sealing

/// Copies values from a damaged vault into a new one, under new keys.
struct SalvageCopier: ~Copyable {
    private let keys: KeyRing
    private var values: ValueOpener
    private var nonces = NonceSource(expected: 4_096)

    init(from store: any RecordStore, _ old: KeyRing, to keys: KeyRing) throws(LogError) {
        self.keys = keys
        values = try ValueOpener(of: store, keys: old)
    }

    /// Copies the newest values that open, in the order in which they lie, which says nothing about their names.
    ///
    /// - Returns: the entries of the new vault, in the order of their names.
    mutating func copy(
        _ history: SalvagedHistory, to checkpoint: inout CheckpointWriter, _ report: inout Salvage,
        _ counter: UpkeepProgress?
    ) throws(LogError) -> [Entry] {
        var entries: [Entry] = []
        var failed: Set<EntryName> = []
        for found in history.present {
            if let entry = try copy(found.entry, to: &checkpoint) {
                entries.append(entry)
                if history.isDoubtful(found) { report.doubtful.append(entry.name.text) } else { report.certain += 1 }
            } else {
                failed.insert(found.entry.name)
            }
            counter?.advance(by: found.entry.footprint)
        }
        let earlier = failed.isEmpty ? [:] : try history.earlier(of: failed)
        for name in failed {
            var copied: Entry?
            for entry in earlier[name] ?? [] where copied == nil { copied = try copy(entry, to: &checkpoint) }
            if let copied { entries.append(copied) }
            if copied == nil { report.lost.append(name.text) } else { report.older.append(name.text) }
        }
        report.sort()
        return entries.sorted { $0.name < $1.name }
    }

    /// Copies an entry's values.
    ///
    /// - Returns: the entry as it is in the new vault; nil if its present value does not open. Earlier ones that do not
    ///   are left out.
    mutating func copy(_ entry: Entry, to checkpoint: inout CheckpointWriter) throws(LogError) -> Entry? {
        guard var content = entry.content, let current = try copy(content.current, to: &checkpoint) else { return nil }
        content.current = current
        var earlier: [EarlierVersion] = []
        for old in content.earlier {
            guard let version = try copy(old.version, to: &checkpoint) else { continue }
            earlier.append(EarlierVersion(modified: old.modified, version: version))
        }
        content.earlier = earlier
        var entry = entry
        entry.content = content
        return entry
    }

    private mutating func copy(
        _ old: StoredVersion, to checkpoint: inout CheckpointWriter
    ) throws(LogError) -> StoredVersion? {
        var version = old
        version.nonce = nonces.next()
        let (nonce, keys) = (version.nonce, keys)
        var box = [UInt8](repeating: 0, count: old.boxLength)
        do throws(LogError) {
            try values.open(old) { (value) throws(SealingError) in
                try box.withMutableRawBytes { (box) throws(SealingError) in
                    try keys.seal(value, for: .value, nonce: nonce, into: box)
                }
            }
        } catch {
            guard error.code == .damaged else { throw error }
            return nil
        }
        version.offset = try box.withRawBytes { (box) throws(LogError) in try checkpoint.write(value: box) }
        return version
    }
}
