package import LinuxSystem
import Sealing

extension SealedLog {
    /// Copies what is left of a damaged vault into a new one. The damaged file is only read.
    ///
    /// - Parameters:
    ///   - path: of the damaged vault, without symbolic links.
    ///   - target: of the new vault, likewise. It has keys of its own, under the same key file.
    ///   - counter: is told how far the work has come.
    /// - Throws: `missing`, `keyWrong` if the key opens no slot that is left, `damaged` if nothing but a slot is left,
    ///   `newerFormat`; `exists` if there is something at the target; `busy`, `unavailable`, `outOfMemory`.
    package static func salvage(
        _ path: String, to target: String, key: borrowing KeyFile, options: Options, in fileSystem: any FileSystem,
        _ counter: UpkeepProgress? = nil
    ) throws(LogError) -> Salvage {
        let deadline = Deadline(after: options.lockTimeout)
        while true {
            let store = try FileRecordStore.openForSalvage(path, in: fileSystem)
            let lock = try store.lock(.shared, until: deadline)
            // A compaction that was waited for has put another file there.
            guard try store.isCurrent() else { continue }
            let report = try salvage(store, path, to: target, key: key, options: options, in: fileSystem, counter)
            lock.release()
            return report
        }
    }

    private static func salvage(
        _ store: FileRecordStore, _ path: String, to target: String, key: borrowing KeyFile, options: Options,
        in fileSystem: any FileSystem, _ counter: UpkeepProgress?
    ) throws(LogError) -> Salvage {
        let remains = try HeaderRemains.find(in: store, key: key)
        // Everything is looked through, and then what lives is read once more.
        counter?.begin(try 2 * store.size())
        let notices = NoticeBoard()
        let memory = options.memory(of: remains.view(of: store), at: path, notices, in: fileSystem)
        let (manifest, fault) = try remains.manifest(in: store)
        let history = try SalvagedHistory.read(remains, manifest, memory, in: store, counter)

        var report = Salvage(damage: history.damage + (fault.map { [$0] } ?? []), hasGaps: history.hasGaps)
        for case .memoryUnusable(let reason) in notices.take() {
            report.damage.append("this machine's memory: \(reason)")
        }
        report.unnamed = history.unnamed(of: (history.totals ?? manifest?.totals)?.entries).map { Int(clamping: $0) }
        let (keys, slots) = try newKeys(for: key, remains.limits)
        _ = try make(target, keys: keys, options: options, in: fileSystem) { (checkpoint) throws(LogError) in
            var copier = try SalvageCopier(from: store, remains.keys, to: keys)
            for entry in try copier.copy(history, to: &checkpoint, &report, counter) { try checkpoint.add(entry) }
            try checkpoint.finish(
                remains.newManifest(after: manifest), vaultID: newVaultID, sequence: 1, slots: slots)
        }
        return report
    }
}

extension HeaderRemains {
    /// The manifest, or what is wrong with it.
    fileprivate func manifest(in store: any RecordStore) throws(LogError) -> (Manifest?, fault: String?) {
        do throws(LogError) { return (try view(of: store).manifest(), nil) } catch {
            guard error.code == .damaged else { throw error }
            return (nil, error.detail)
        }
    }

    /// The manifest of a new vault with one slot.
    fileprivate func newManifest(after old: Manifest?) -> Manifest {
        let label = label(in: old) ?? SlotLabel(created: SealedLog.now, text: "")
        return Manifest(
            created: old?.created ?? SealedLog.now, totals: Totals(), chain: [], labels: [label],
            settings: old?.settings ?? [])
    }
}
