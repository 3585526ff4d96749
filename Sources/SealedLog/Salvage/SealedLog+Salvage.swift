import LinuxSystem
import Sealing

/// The result of a salvage, from the most to the least certain values. Each name with a value in the new vault is
/// counted in ``certain`` or listed in ``doubtful`` or ``older``. All these values are authentic.
package struct SalvageReport: Hashable, Sendable {
    /// The number of names whose last value was certainly found.
    package internal(set) var certain = 0
    /// The names with an authentic value that may have been changed or removed later by a lost record.
    package internal(set) var doubtful: [String] = []
    /// The names whose last value is lost and that have an earlier value instead.
    package internal(set) var older: [String] = []
    /// The names for which no value opens.
    package internal(set) var lost: [String] = []
    /// The earlier values in the vault's history that do not open, by name, newest first. Removed names are included,
    /// but names in ``lost`` are not.
    package internal(set) var lostVersions: [LostVersion] = []
    /// The number of lost entries whose names are unknown; nil if this number cannot be determined.
    package internal(set) var unnamed: Int? = 0
    /// The damaged parts, as sentence fragments.
    package internal(set) var damage: [String] = []
    /// Whether more entries may be missing than the lists contain.
    package internal(set) var hasGaps = false
    /// The parts of the old vault, other than entries, that the new vault lacks.
    package internal(set) var leftBehind: [Part] = []

    /// A part of a vault other than its entries. The new vault keeps the access log's switch, the settings and the
    /// limits of the history.
    package enum Part: String, Sendable {
        /// The header. Its MAC is invalid, so the access log switch, history limits and members flag may be wrong.
        case header
        /// The manifest, which contains the settings, the key's label and the time of creation.
        case manifest
        /// The members and their signatures, which are valid only for the old vault.
        case members
        /// All keys except the one that opened the old vault. The new data key cannot be wrapped without their secrets.
        case keys
        /// The recorded reads, which are bound to the old vault's ID and keys.
        case accesses
    }

    package struct LostVersion: Hashable, Sendable {
        package let name: String
        /// The version's number in the damaged vault: 1 for the last value before the current one or the removal.
        package let number: Int
        /// The time when the value was set, in milliseconds since 1970.
        package let modified: UInt64
    }

    /// Whether the new vault has all entries of the damaged one, with all their earlier values.
    package var isComplete: Bool {
        !hasGaps && doubtful.isEmpty && older.isEmpty && lost.isEmpty && lostVersions.isEmpty && unnamed == 0
    }

    /// Whether the damage has caused no loss of entries or other parts.
    package var isWithoutLoss: Bool { isComplete && !leftBehind.contains { $0 == .header || $0 == .manifest } }
}

extension SealedLog {
    /// Copies what remains of a damaged vault into a new vault. The damaged vault is not changed. The new vault has its
    /// own keys, protected by the secret that opened the old vault. `counter` counts the bytes read.
    ///
    /// - Throws: `missing`; `keyWrong` if the key opens no remaining slot; `damaged` if only a slot remains;
    ///   `newerFormat`; `exists` if the target exists; `busy`, `unavailable`, `outOfMemory`.
    package static func salvage(
        _ location: any StoreLocation, to target: some StoreLocation, with unlocker: inout some Unlocker & ~Copyable,
        options: Options, _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> SalvageReport {
        let lock = try StoreLock.toRead(until: Deadline(after: options.lockTimeout)) { () throws(LogError) in
            try location.open(.damaged)
        }
        let store = lock.store
        let found = try HeaderRemains.open(store, with: &unlocker)
        // The whole file is searched once for each header's history. Afterwards, the current values are read again.
        counter?.begin(try UInt64(found.count + 1) * store.size())
        func read(_ remains: HeaderRemains) throws(LogError) -> SalvageReading {
            try SalvageReading(remains, options.memory(of: remains.view, at: location), counter)
        }
        var reading = try read(found[0])
        // If the first header's history has gaps, another header may give access to more entries.
        for remains in found.dropFirst() where reading.history.hasGaps {
            let other = try read(remains)
            if other.history.present.count > reading.history.present.count { reading = other }
        }
        let remains = reading.remains
        let memory = reading.memory
        let manifest = reading.manifest
        let history = reading.history

        var report = SalvageReport(damage: history.damage + reading.faults, hasGaps: history.hasGaps)
        report.unnamed = history.unnamed(manifest)
        report.leftBehind = remains.leftBehind(manifest)
        let (keys, slot) = try newKeys { (dataKey, wrappingKey) throws(LogError) in
            try remains.view.keys.withWrappingKey { (key) throws(LogError) in
                wrappingKey.copyMemory(from: key)
                return try remains.slot.wrapping(dataKey, under: key)
            }
        }
        let log = try create(target, keys: keys, options: options) { (checkpoint) throws(LogError) in
            var copier = SalvageCopier(resealer: try ValueResealer(of: store, from: remains.view.keys, to: keys))
            for entry in try copier.copy(history, to: &checkpoint, &report, counter) { try checkpoint.add(entry) }
            let header = remains.view.header
            try checkpoint.finish(
                remains.newManifest(after: manifest), slots: [slot], history: header.history,
                isAccessLogged: header.isAccessLogged)
        }
        lock.release()
        // This process created the new vault, so it stores the vault's fingerprint. Otherwise, the first use would ask
        // the user to compare a fingerprint that is shown nowhere else.
        do { try unlocker.remember(log.view.withLock(\.unlocked)) {} } catch { memory?.notices.post(error) }
        for case .memoryUnusable(let reason) in memory?.notices.take() ?? [] {
            report.damage.append("this machine's memory: \(reason)")
        }
        return report
    }
}

/// The history found through one of the headers that may be the newest.
private struct SalvageReading {
    let remains: HeaderRemains
    let memory: RollbackMemory?
    let manifest: Manifest?
    let faults: [String]
    let history: SalvagedHistory

    init(_ remains: HeaderRemains, _ memory: RollbackMemory?, _ counter: UpkeepProgress?) throws(LogError) {
        let (manifest, fault) = try remains.manifest()
        self.remains = remains
        self.memory = memory
        self.manifest = manifest
        faults = fault.map { [$0] } ?? []
        history = try SalvagedHistory(remains, manifest, memory, counter)
    }
}

private struct SalvageCopier: ~Copyable {
    private var resealer: ValueResealer
    private var unopened: Set<StoredVersion> = []

    init(resealer: consuming ValueResealer) { self.resealer = resealer }

    /// Copies the newest values that open, in the order of their offsets, so that the new file does not reveal the
    /// order of names. Returns the new vault's entries in the order of their names.
    mutating func copy(
        _ history: SalvagedHistory, to checkpoint: inout CheckpointWriter, _ report: inout SalvageReport,
        _ counter: UpkeepProgress?
    ) throws(LogError) -> [Entry] {
        var entries: [Entry] = []
        var doubtful: [EntryName] = []
        var failed: Set<EntryName> = []
        for found in history.present {
            if let entry = try copy(found.entry, to: &checkpoint) {
                entries.append(entry)
                if history.isDoubtful(found) { doubtful.append(entry.name) } else { report.certain += 1 }
            } else {
                failed.insert(found.entry.name)
            }
            counter?.advance(by: found.entry.footprint)
        }
        // If a value is lost, an earlier one may be in the entry's history or in an older page.
        var older: [EntryName: Entry] = [:]
        for found in history.present where failed.contains(found.entry.name) {
            older[found.entry.name] = try copyFormer(of: found.entry, to: &checkpoint)
        }
        let rest = failed.subtracting(older.keys)
        let earlier = rest.isEmpty ? [:] : try history.earlier(of: rest)
        for name in rest {
            for entry in earlier[name] ?? [] where older[name] == nil {
                older[name] = try copy(entry, to: &checkpoint)
                if older[name] == nil { older[name] = try copyFormer(of: entry, to: &checkpoint) }
            }
        }
        // Histories of removed names are kept, but the names are not counted, since lists of names do not show them.
        for found in history.removed {
            let kept = try copiedHistory(of: found.entry, to: &checkpoint)
            if !kept.earlier.isEmpty { entries.append(kept) }
        }
        report.doubtful = doubtful.sorted().map(\.text)
        report.older = older.keys.sorted().map(\.text)
        let lost = failed.subtracting(older.keys)
        report.lost = lost.sorted().map(\.text)
        let kept = (history.present + history.removed).map(\.entry).filter { !lost.contains($0.name) }
        for entry in kept.sorted(by: { $0.name < $1.name }) { report.lostVersions += lostVersions(of: entry) }
        return (entries + older.values).sorted { $0.name < $1.name }
    }

    /// Returns an entry's earlier values that do not open. Values that the vault had dropped before are not included.
    private func lostVersions(of entry: Entry) -> [SalvageReport.LostVersion] {
        entry.earlier.enumerated().filter { unopened.contains($1.version) }.map { index, earlier in
            SalvageReport.LostVersion(name: entry.name.text, number: index + 1, modified: earlier.modified)
        }
    }

    /// Copies an entry and those of its values that open. Returns nil if its current value does not open.
    private mutating func copy(_ entry: Entry, to checkpoint: inout CheckpointWriter) throws(LogError) -> Entry? {
        guard var content = entry.content, let current = try copy(content.current, to: &checkpoint) else { return nil }
        content.current = current
        var copied = try copiedHistory(of: entry, to: &checkpoint)
        copied.content = content
        return copied
    }

    /// Copies an entry and makes its newest intact earlier value the current one. Returns nil if none opens.
    private mutating func copyFormer(of entry: Entry, to checkpoint: inout CheckpointWriter) throws(LogError) -> Entry?
    {
        var entry = entry
        while let former = entry.former {
            if let copied = try copy(former, to: &checkpoint) { return copied }
            entry = former
        }
        return nil
    }

    /// Returns a tombstone for the entry's name, with the entry's earlier values that open.
    private mutating func copiedHistory(
        of entry: Entry, to checkpoint: inout CheckpointWriter
    ) throws(LogError) -> Entry {
        var copied = Entry(name: entry.name, modified: entry.modified, content: nil)
        for var old in entry.earlier {
            guard let version = try copy(old.version, to: &checkpoint) else { continue }
            // A signature is valid only in the vault for which it was made, so the new vault's version has none.
            old.version = version
            old.authorship = nil
            copied.earlier.append(old)
        }
        return copied
    }

    private mutating func copy(
        _ old: StoredVersion, to checkpoint: inout CheckpointWriter
    ) throws(LogError) -> StoredVersion? {
        var sealed: (version: StoredVersion, box: [UInt8])
        do throws(LogError) { sealed = try resealer.reseal(old) } catch {
            guard error.code == .damaged else { throw error }
            unopened.insert(old)
            return nil
        }
        sealed.version.offset = try checkpoint.write(value: sealed.box)
        return sealed.version
    }
}
