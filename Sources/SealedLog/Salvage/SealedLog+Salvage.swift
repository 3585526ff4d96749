package import LinuxSystem
import Sealing

extension SealedLog {
    /// Copies what is left of a damaged vault into a new one. The damaged file is only read.
    ///
    /// - Parameters:
    ///   - path: of the damaged vault, without symbolic links.
    ///   - target: of the new vault, likewise. It gets keys of its own, under the same key file.
    ///   - counter: counts the bytes that were read.
    /// - Throws: `missing`, `keyWrong` if the key opens no slot that is left, `damaged` if nothing but a slot is left,
    ///   `newerFormat`; `exists` if there is something at the target; `busy`, `unavailable`, `outOfMemory`.
    package static func salvage(
        _ path: String, to target: String, key: borrowing KeyFile, options: Options, in fileSystem: any FileSystem,
        _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> Salvage {
        let deadline = Deadline(after: options.lockTimeout)
        while true {
            let store = try FileRecordStore.open(path, isDamaged: true, in: fileSystem)
            let lock = try store.lock(.shared, until: deadline)
            // If this waited for a compaction, the path leads to another file now.
            guard try store.isCurrent() else { continue }
            let remains = try HeaderRemains(in: store, key: key)
            // Everything is searched, and then the present values are read once more.
            counter?.begin(try 2 * store.size())
            let notices = NoticeBoard()
            let memory = options.memory(of: remains.view(of: store), at: path, notices, in: fileSystem)
            let (manifest, fault) = try remains.manifest(in: store)
            let history = try SalvagedHistory(remains, manifest, memory, in: store, counter)

            var report = Salvage(damage: history.damage + (fault.map { [$0] } ?? []), hasGaps: history.hasGaps)
            for case .memoryUnusable(let reason) in notices.take() {
                report.damage.append("this machine's memory: \(reason)")
            }
            report.unnamed = history.unnamed(manifest)
            let (keys, slots) = try newKeys(for: key, remains.limits)
            _ = try create(target, keys: keys, options: options, in: fileSystem) { (checkpoint) throws(LogError) in
                var copier = SalvageCopier(keys: keys, values: try ValueOpener(of: store, keys: remains.keys))
                for entry in try copier.copy(history, to: &checkpoint, &report, counter) { try checkpoint.add(entry) }
                let manifest = remains.newManifest(after: manifest)
                try checkpoint.finish(manifest, slots: slots)
            }
            lock.release()
            return report
        }
    }
}

/// Copies values from a damaged vault into a new one, under new keys.
private struct SalvageCopier: ~Copyable {
    let keys: KeyRing
    /// Of the damaged vault.
    var values: ValueOpener
    var nonces = NonceSource(expected: 4_096)

    /// Copies the newest values that open, in the order of their offsets, which does not reveal the order of names.
    /// Returns the entries of the new vault, in the order of their names.
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

    /// Copies an entry with its values; nil if its present value does not open. Earlier ones that do not are left out.
    private mutating func copy(_ entry: Entry, to checkpoint: inout CheckpointWriter) throws(LogError) -> Entry? {
        guard var content = entry.content, let current = try copy(content.current, to: &checkpoint) else { return nil }
        content.current = current
        content.earlier = []
        for old in entry.content?.earlier ?? [] {
            guard let version = try copy(old.version, to: &checkpoint) else { continue }
            content.earlier.append(EarlierVersion(modified: old.modified, version: version))
        }
        return Entry(name: entry.name, modified: entry.modified, content: content)
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
