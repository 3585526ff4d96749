import LinuxSystem
import Sealing

/// The result of a salvage. The first four properties group the names by outcome, from best to worst. Each name with a
/// value in the new vault is counted in ``certain`` or listed in ``doubtful`` or ``older``. All values are authentic.
package struct SalvageReport: Hashable, Sendable {
    /// The number of names whose value in the new vault is certain to be their newest.
    package internal(set) var certain = 0
    /// The names whose value is authentic, but may have been changed or removed by a later record that is lost.
    package internal(set) var doubtful: [String] = []
    /// The names that have an earlier value in the new vault, because their newest value is lost.
    package internal(set) var older: [String] = []
    /// The names for which no value can be opened.
    package internal(set) var lost: [String] = []
    /// The earlier values in the vault's history that cannot be opened, sorted by name, the newest of each name first.
    /// Includes those of removed names, but not those of names in ``lost``.
    package internal(set) var lostVersions: [LostVersion] = []
    /// The number of lost entries whose names are unknown; nil if this number cannot be determined.
    package internal(set) var unnamed: Int? = 0
    /// The damaged parts, as sentence fragments.
    package internal(set) var damage: [String] = []
    /// Whether more entries may be missing than this report lists.
    package internal(set) var hasGaps = false
    /// The parts of the old vault, other than entries, that the new vault lacks.
    package internal(set) var leftBehind: [Part] = []

    /// A part of the damaged vault other than its entries. The new vault keeps the damaged vault's history limits and,
    /// if the manifest is readable, its settings. It logs accesses if the damaged vault did.
    package enum Part: String, Sendable {
        /// The header. Its MAC is invalid, so the access log switch, history limits and members flag may be wrong.
        case header
        /// The manifest, which contains the settings, the key's label and the time of creation.
        case manifest
        /// The members and their signatures, which are valid only for the old vault.
        case members
        /// All keys of the old vault except the one that opened it. Keeping them would require their secrets.
        case keys
        /// The access log. Its records are bound to the old vault's ID and keys.
        case accesses
    }

    package struct LostVersion: Hashable, Sendable {
        package let name: String
        /// The number of this earlier value in the damaged vault: 1 is the value that was last replaced or removed.
        package let number: Int
        /// The time when the value was set, in milliseconds since 1970.
        package let modified: UInt64
    }

    /// Whether the new vault has all entries of the damaged one, with all their earlier values.
    package var isComplete: Bool {
        !hasGaps && doubtful.isEmpty && older.isEmpty && lost.isEmpty && lostVersions.isEmpty && unnamed == 0
    }

    /// Whether the vault is complete and header and manifest were readable. Other ``leftBehind`` parts do not count.
    package var isWithoutLoss: Bool { isComplete && !leftBehind.contains { $0 == .header || $0 == .manifest } }
}

extension SealedLog {
    /// Copies what remains of a damaged vault into a new vault. The damaged vault is not changed. The new vault has its
    /// own keys, protected by the secret that opened the old vault. `counter` counts the bytes read.
    ///
    /// - Throws: `missing`; `keyWrong` if the key opens none of the key slots that are left; `damaged` if only a key
    ///   slot is left; `newerFormat`; `exists` if the target exists; `busy`, `unavailable` or `outOfMemory`.
    package static func salvage(
        _ location: any StoreLocation, to target: some StoreLocation, with unlocker: inout some Unlocker & ~Copyable,
        options: Options, _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> SalvageReport {
        let lock = try StoreLock.toRead(until: Deadline(after: options.lockTimeout)) { () throws(LogError) in
            try location.open(.damaged)
        }
        let store = lock.store
        let found = try HeaderRemains.open(store, with: &unlocker)
        // The salvage reads the whole file once for each possible header, and then reads the current values again.
        counter?.begin(try UInt64(found.count + 1) * store.size())
        func read(_ remains: HeaderRemains) throws(LogError) -> SalvageReading {
            try SalvageReading(remains, options.memory(of: remains.view, at: location), counter)
        }
        var reading = try read(found[0])
        // If the history found through the first header has gaps, another possible header may lead to more entries.
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

/// The history that a salvage finds through one of the headers that may be the vault's newest.
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

    /// Copies the newest values that can be opened, in the order of their offsets, so that the new file does not reveal
    /// the order of names. Returns the new vault's entries in the order of their names.
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
        // If an entry's current value is lost, an earlier one may be in the entry's history or in an older page.
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
        // The history of a removed name is kept, but the name is not counted, since lists of names omit it.
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

    /// Returns an entry's earlier values that do not open, except those no longer in the damaged vault's history.
    private func lostVersions(of entry: Entry) -> [SalvageReport.LostVersion] {
        entry.earlier.enumerated().filter { unopened.contains($1.version) }.map { index, earlier in
            SalvageReport.LostVersion(name: entry.name.text, number: index + 1, modified: earlier.modified)
        }
    }

    /// Copies an entry with all values that can be opened. Returns nil if its current value cannot.
    private mutating func copy(_ entry: Entry, to checkpoint: inout CheckpointWriter) throws(LogError) -> Entry? {
        guard var content = entry.content, let current = try copy(content.current, to: &checkpoint) else { return nil }
        content.current = current
        var copied = try copiedHistory(of: entry, to: &checkpoint)
        copied.content = content
        return copied
    }

    /// Copies an entry, with its newest intact earlier value replacing the lost one. Returns nil if there is none.
    private mutating func copyFormer(of entry: Entry, to checkpoint: inout CheckpointWriter) throws(LogError) -> Entry?
    {
        var entry = entry
        while let former = entry.former {
            if let copied = try copy(former, to: &checkpoint) { return copied }
            entry = former
        }
        return nil
    }

    /// Copies those of the entry's earlier values that can be opened. Returns a tombstone that has them as its history.
    private mutating func copiedHistory(
        of entry: Entry, to checkpoint: inout CheckpointWriter
    ) throws(LogError) -> Entry {
        var copied = Entry(name: entry.name, modified: entry.modified, content: nil)
        for var old in entry.earlier {
            guard let version = try copy(old.version, to: &checkpoint) else { continue }
            // A signature is valid only in the vault for which it was made, so it is not copied.
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
