package import LinuxSystem
package import Sealing

extension SealedLog {
    /// Creates a new, empty vault: on the disk when this returns, or not at all.
    ///
    /// - Parameters:
    ///   - path: without symbolic links.
    ///   - label: of the key slot, for people; at most 256 bytes.
    ///   - limits: the cost of a guess at a key file that was not generated.
    /// - Throws: `exists` if there is a file at the path; `unavailable`, `outOfMemory`.
    package static func create(
        _ path: String, key: borrowing KeyFile, label: String, limits: KeyDerivation.StretchLimits = .recommended,
        options: Options, in fileSystem: any FileSystem
    ) throws(LogError) -> SealedLog {
        guard label.utf8.count <= Manifest.labelSize else {
            throw LogError(.invalid, "a label may have at most \(Manifest.labelSize) bytes")
        }
        let (keys, slots) = try newKeys(for: key, limits)
        let manifest = Manifest(
            created: now, totals: Totals(), chain: [], labels: [SlotLabel(created: now, text: label)], settings: [])
        return try create(path, keys: keys, options: options, in: fileSystem) { (checkpoint) throws(LogError) in
            try checkpoint.finish(manifest, vaultID: newVaultID, sequence: 1, slots: slots)
        }
    }

    static var newVaultID: [UInt8] { RandomBytes.array(Header.identifierSize) }

    /// Returns the subkeys of a new data key, and the slot that wraps it.
    ///
    /// - Throws: `invalid` for limits out of bounds; `outOfMemory`.
    static func newKeys(
        for key: borrowing KeyFile, _ limits: KeyDerivation.StretchLimits
    ) throws(LogError) -> (KeyRing, [KeySlot]) {
        guard limits.isWithinBounds, limits.cost <= KeyDerivation.StretchLimits.largestCost else {
            throw LogError(.invalid, "Argon2id takes \(KeyDerivation.StretchLimits.bounds)")
        }
        var slots: [KeySlot] = []
        let keys = try KeyRing { (dataKey, scratch) throws(LogError) in
            RandomBytes.fill(dataKey)
            slots.append(
                try .wrapping(UnsafeRawBufferPointer(dataKey), with: key, limits: limits, scratch: scratch))
        }
        return (keys, slots)
    }

    /// Creates a vault file from a checkpoint that `write` finishes: on the disk when this returns, or not at all.
    ///
    /// - Throws: `exists` if there is a file at the path; `unavailable`, or what `write` throws.
    static func create(
        _ path: String, keys: KeyRing, options: Options, in fileSystem: any FileSystem,
        write: (inout CheckpointWriter) throws(LogError) -> Void
    ) throws(LogError) -> SealedLog {
        let store = try FileRecordStore.createUnpublished(for: path, in: fileSystem)
        do throws(LogError) {
            var checkpoint = CheckpointWriter(into: store, keys: keys)
            try write(&checkpoint)
            try store.publish(replacing: false)
        } catch {
            store.discard()
            throw error
        }
        let view = try HeaderImage(of: store).view(with: keys).view
        let notices = NoticeBoard()
        let memory = options.memory(of: view, at: path, notices, in: fileSystem)
        let log = SealedLog(
            Opened(view: view, memory: memory, notices: notices, lockTimeout: options.lockTimeout))
        try log.writer.withLock { (writer) throws(LogError) in try log.flushName(&writer) }
        memory?.remember(view.origin)
        log.register()
        return log
    }

    /// Returns the id of the vault that was last opened at a path; nil if this machine remembers none.
    package static func rememberedVault(
        at path: String, memoryFolder: String, in fileSystem: any FileSystem
    ) -> String? {
        RollbackMemory.rememberedVault(at: path, in: MemoryFolder(path: memoryFolder, fileSystem: fileSystem))
    }
}
