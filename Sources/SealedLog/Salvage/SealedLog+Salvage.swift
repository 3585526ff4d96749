import LinuxSystem
import Sealing

/// What was found in a damaged vault, the most certain first. Every name with a value is in one of the lists, and every
/// value is authentic.
package struct SalvageReport: Hashable, Sendable {
    /// The number of names with their last value.
    package internal(set) var certain = 0
    /// Names with a value of theirs whose later change or removal may be lost.
    package internal(set) var doubtful: [String] = []
    /// Names whose last value is lost, with an earlier one instead.
    package internal(set) var older: [String] = []
    /// Names without a value that opens.
    package internal(set) var lost: [String] = []
    /// Earlier values that the vault has kept and that do not open, by name, the newest first: of removed names too,
    /// but not of those that are lost altogether.
    package internal(set) var lostVersions: [LostVersion] = []
    /// How many more names are lost, as far as is known; nil if nothing says how many there were.
    package internal(set) var unnamed: Int? = 0
    /// What is damaged: parts of sentences.
    package internal(set) var damage: [String] = []
    /// Whether something may be missing that is in none of the lists.
    package internal(set) var hasGaps = false
    /// What the new vault does not have of the old one, beside entries.
    package internal(set) var leftBehind: [Part] = []

    /// What else a vault has. The access log's switch, the settings and the limits of the history are in the new one.
    package enum Part: String, Sendable {
        /// The header's MAC is wrong: the switch, the limits and whether there are members may be wrong too.
        case header
        /// What is lost with the manifest: the settings, the key's label, the time of creation.
        case manifest
        /// The members and their signatures, which are made for one vault.
        case members
        /// All keys but the one that opened the old vault: wrapping a data key takes their secrets.
        case keys
        /// The reads that were recorded, by the old vault's id and under its keys.
        case accesses
    }

    /// An earlier value that is lost.
    package struct LostVersion: Hashable, Sendable {
        package let name: String
        /// As the damaged vault counts: 1 for the last one before the present value, or before the name was removed.
        package let number: Int
        /// When it was set, in milliseconds since 1970.
        package let modified: UInt64
    }

    /// Whether the new vault has all entries that the damaged one had, with all earlier values.
    package var isComplete: Bool {
        !hasGaps && doubtful.isEmpty && older.isEmpty && lost.isEmpty && lostVersions.isEmpty && unnamed == 0
    }

    /// Whether nothing was lost by damage, beside entries too.
    package var isWithoutLoss: Bool { isComplete && !leftBehind.contains { $0 == .header || $0 == .manifest } }
}

extension SealedLog {
    /// Copies what is left of a damaged vault, which is only read, into a new one with keys of its own, under the
    /// secret that opened the old one. `counter` counts the bytes that were read.
    ///
    /// - Throws: `missing`, `keyWrong` if the key opens no slot that is left, `damaged` if nothing but a slot is left,
    ///   `newerFormat`; `exists` if there is something at the target; `busy`, `unavailable`, `outOfMemory`.
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
        // A header that leads nowhere hides nothing that another one leads to.
        for remains in found.dropFirst() where reading.history.hasGaps {
            let other = try read(remains)
            if other.history.present.count > reading.history.present.count { reading = other }
        }
        let (remains, memory, manifest, history) = (reading.remains, reading.memory, reading.manifest, reading.history)

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
        // It was made here: nobody could compare the fingerprint that its first use would ask for.
        do { try unlocker.remember(log.view.withLock(\.unlocked)) {} } catch { memory?.notices.post(error) }
        for case .memoryUnusable(let reason) in memory?.notices.take() ?? [] {
            report.damage.append("this machine's memory: \(reason)")
        }
        return report
    }
}

/// What is found by one of the headers that may be the newest.
private struct SalvageReading {
    let remains: HeaderRemains
    let memory: RollbackMemory?
    let manifest: Manifest?
    /// What is wrong with the manifest, in words.
    let faults: [String]
    let history: SalvagedHistory

    init(_ remains: HeaderRemains, _ memory: RollbackMemory?, _ counter: UpkeepProgress?) throws(LogError) {
        let (manifest, fault) = try remains.manifest()
        (self.remains, self.memory, self.manifest) = (remains, memory, manifest)
        faults = fault.map { [$0] } ?? []
        history = try SalvagedHistory(remains, manifest, memory, counter)
    }
}

/// Copies values from a damaged vault into a new one, under new keys.
private struct SalvageCopier: ~Copyable {
    private var resealer: ValueResealer
    private var unopened: Set<StoredVersion> = []

    init(resealer: consuming ValueResealer) { self.resealer = resealer }

    /// Copies the newest values that open, in the order of their offsets, which does not reveal the order of names.
    /// Returns the entries of the new vault, in the order of their names.
    mutating func copy(
        _ history: SalvagedHistory, to checkpoint: inout CheckpointWriter, _ report: inout SalvageReport,
        _ counter: UpkeepProgress?
    ) throws(LogError) -> [Entry] {
        var entries: [Entry] = []
        var (doubtful, failed): ([EntryName], Set<EntryName>) = ([], [])
        for found in history.present {
            if let entry = try copy(found.entry, to: &checkpoint) {
                entries.append(entry)
                if history.isDoubtful(found) { doubtful.append(entry.name) } else { report.certain += 1 }
            } else {
                failed.insert(found.entry.name)
            }
            counter?.advance(by: found.entry.footprint)
        }
        // Of a value that is lost, the one before is in the history of its name, or in an older page.
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
        // What removed names had before counts as no name: it is in no list of names.
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

    /// Returns the earlier values of an entry that do not open. What the vault had not kept is none of them.
    private func lostVersions(of entry: Entry) -> [SalvageReport.LostVersion] {
        entry.earlier.enumerated().filter { unopened.contains($1.version) }.map { index, earlier in
            SalvageReport.LostVersion(name: entry.name.text, number: index + 1, modified: earlier.modified)
        }
    }

    /// Copies an entry with its values; nil if its present value does not open. Earlier ones that do not are left out.
    private mutating func copy(_ entry: Entry, to checkpoint: inout CheckpointWriter) throws(LogError) -> Entry? {
        guard var content = entry.content, let current = try copy(content.current, to: &checkpoint) else { return nil }
        content.current = current
        var copied = try copiedHistory(of: entry, to: &checkpoint)
        copied.content = content
        return copied
    }

    /// Copies the newest of an entry's earlier values that opens, with those before it, as the present one.
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
            // Whatever was signed was signed for the other vault.
            (old.version, old.authorship) = (version, nil)
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
