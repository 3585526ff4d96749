import LinuxSystem
import Sealing

/// The result of a salvage, the most certain first. Each name with a value is in one list; each value is authentic.
package struct SalvageReport: Hashable, Sendable {
    /// The number of names with their last value.
    package internal(set) var certain = 0
    /// The names with an authentic value, a later change or removal of which may be lost.
    package internal(set) var doubtful: [String] = []
    /// The names whose last value is lost. They have an earlier one instead.
    package internal(set) var older: [String] = []
    /// The names without a value that opens.
    package internal(set) var lost: [String] = []
    /// The earlier values that the vault has kept but that do not open, by name, the newest first. Removed names are
    /// included, but not the lost ones.
    package internal(set) var lostVersions: [LostVersion] = []
    /// The number of further names that are lost; nil if nothing shows how many there were.
    package internal(set) var unnamed: Int? = 0
    /// The damaged parts, as parts of sentences.
    package internal(set) var damage: [String] = []
    /// Whether anything may be missing that is in none of the lists.
    package internal(set) var hasGaps = false
    /// The parts of the old vault, other than entries, that the new one lacks.
    package internal(set) var leftBehind: [Part] = []

    /// A part of a vault other than its entries. The new vault keeps the access log's switch, the settings and the
    /// limits of the history.
    package enum Part: String, Sendable {
        /// The header's MAC is invalid: the switch, the limits and the flag of members may be wrong too.
        case header
        /// The manifest is lost, with the settings, the key's label and the time of creation.
        case manifest
        /// The members and their signatures, which are valid for one vault only.
        case members
        /// All keys but the one that opened the old vault. Wrapping a data key for them would take their secrets.
        case keys
        /// The recorded reads, which belong to the old vault's ID and keys.
        case accesses
    }

    package struct LostVersion: Hashable, Sendable {
        package let name: String
        /// The damaged vault's number: 1 for the last value before the present one, or before the removal.
        package let number: Int
        /// The time when it was set, in milliseconds since 1970.
        package let modified: UInt64
    }

    /// Whether the new vault has all entries that the damaged one had, with all earlier values.
    package var isComplete: Bool {
        !hasGaps && doubtful.isEmpty && older.isEmpty && lost.isEmpty && lostVersions.isEmpty && unnamed == 0
    }

    /// Whether damage caused no loss, neither of entries nor of other parts.
    package var isWithoutLoss: Bool { isComplete && !leftBehind.contains { $0 == .header || $0 == .manifest } }
}

extension SealedLog {
    /// Copies the remains of a damaged vault into a new one. The damaged vault is only read. The new one gets keys of
    /// its own, under the secret that opened the old one. `counter` counts the bytes that were read.
    ///
    /// - Throws: `missing`, `keyWrong` if the key opens no remaining slot, `damaged` if only a slot is left,
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
        // Everything is searched, and then the present values are read once more.
        counter?.begin(try UInt64(found.count + 1) * store.size())
        func read(_ remains: HeaderRemains) throws(LogError) -> SalvageReading {
            try SalvageReading(remains, options.memory(of: remains.view, at: location), counter)
        }
        var reading = try read(found[0])
        // If the history of one header has gaps, another header may lead to more.
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
        // The new vault was created here, so its fingerprint is remembered now. Otherwise the first use would require a
        // comparison with a fingerprint that is not shown anywhere else.
        do { try unlocker.remember(log.view.withLock(\.unlocked)) {} } catch { memory?.notices.post(error) }
        for case .memoryUnusable(let reason) in memory?.notices.take() ?? [] {
            report.damage.append("this machine's memory: \(reason)")
        }
        return report
    }
}

/// The history that one of the headers leads to which may be the newest.
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

    /// Copies the newest values that open, in the order of their offsets, which does not reveal the order of names.
    /// Returns the entries of the new vault in the order of their names.
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
        // For a lost value, the one before is in the history of the name, or in an older page.
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
        // Histories of removed names are kept, but do not count as names, since no list of names shows them.
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

    /// Returns the earlier values of an entry that do not open. Values that the vault had not kept are not listed.
    private func lostVersions(of entry: Entry) -> [SalvageReport.LostVersion] {
        entry.earlier.enumerated().filter { unopened.contains($1.version) }.map { index, earlier in
            SalvageReport.LostVersion(name: entry.name.text, number: index + 1, modified: earlier.modified)
        }
    }

    /// Copies an entry with its values that open; nil if its present value does not.
    private mutating func copy(_ entry: Entry, to checkpoint: inout CheckpointWriter) throws(LogError) -> Entry? {
        guard var content = entry.content, let current = try copy(content.current, to: &checkpoint) else { return nil }
        content.current = current
        var copied = try copiedHistory(of: entry, to: &checkpoint)
        copied.content = content
        return copied
    }

    /// Copies the newest earlier value that opens, with those before it, as the present one; nil if none opens.
    private mutating func copyFormer(of entry: Entry, to checkpoint: inout CheckpointWriter) throws(LogError) -> Entry?
    {
        var entry = entry
        while let former = entry.former {
            if let copied = try copy(former, to: &checkpoint) { return copied }
            entry = former
        }
        return nil
    }

    /// Returns a tombstone of the entry's name, with its earlier values that open.
    private mutating func copiedHistory(
        of entry: Entry, to checkpoint: inout CheckpointWriter
    ) throws(LogError) -> Entry {
        var copied = Entry(name: entry.name, modified: entry.modified, content: nil)
        for var old in entry.earlier {
            guard let version = try copy(old.version, to: &checkpoint) else { continue }
            // A signature is valid only for the vault in which it was made.
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
