package import Sealing
import Synchronization

extension SealedLog {
    /// Makes a new, empty vault: on the disk when this returns, or not at all.
    ///
    /// - Parameters:
    ///   - path: without symbolic links.
    ///   - label: of the key slot, for people; at most 256 bytes.
    ///   - limits: what a guess at a key file that was not generated is to cost.
    /// - Throws: `exists` if there is a file at the path; `unavailable`, `outOfMemory`.
    package static func create(
        _ path: String, key: borrowing KeyFile, label: String, limits: KeyDerivation.StretchLimits = .recommended,
        options: Options, in fileSystem: any FileSystem
    ) throws(LogError) -> SealedLog {
        guard label.utf8.count <= Manifest.labelSize else {
            throw LogError(.invalid, "a label may have at most \(Manifest.labelSize) bytes")
        }
        guard limits.isWithinBounds, limits.cost <= KeyDerivation.StretchLimits.largestCost else {
            throw LogError(.invalid, "Argon2id takes \(KeyDerivation.StretchLimits.bounds)")
        }
        var slots: [KeySlot] = []
        let keys = try KeyRing { (dataKey, scratch) throws(LogError) in
            RandomBytes.fill(dataKey)
            slots.append(
                try KeySlot.wrapping(UnsafeRawBufferPointer(dataKey), with: key, limits: limits, scratch: scratch))
        }
        let store = try FileRecordStore.createUnpublished(for: path, in: fileSystem)
        do throws(LogError) {
            try write(
                Manifest(
                    created: now, totals: Totals(), chain: [],
                    labels: [SlotLabel(created: now, text: label)], settings: []), slots: slots, keys: keys, to: store)
            try store.publish(replacing: false)
        } catch {
            store.discard()
            throw error
        }
        let (view, _) = try LogView.start(store) { (_) throws(LogError) in keys }
        let notices = NoticeBoard()
        let memory = options.memory(of: view, at: path, notices, in: fileSystem)
        let log = SealedLog(
            Opened(view: view, memory: memory, notices: notices, lockTimeout: options.lockTimeout))
        try log.writer.withLock { (writer) throws(LogError) in try log.makeLocationDurable(&writer) }
        try? memory?.remember(view.origin)
        log.register()
        return log
    }

    private static func write(
        _ manifest: Manifest, slots: [KeySlot], keys: KeyRing, to store: any RecordStore
    ) throws(LogError) {
        var nonces = NonceSource(expected: 1)
        let nonce = nonces.next()
        let box = try keys.seal(manifest.encoded, for: .page, nonce: nonce)
        let place = Limits.checkpointStart
        let header = Header(
            vaultID: RandomBytes.array(Header.identifierSize), sequence: 1, root: nil,
            manifest: SealedExtent(place: place, length: box.count, nonce: nonce),
            checkpointEnd: place + UInt64(box.count), slots: slots)
        try store.write(try header.sealed(with: keys) + box, at: 0)
        try store.writeZeros(header.checkpointEnd..<Limits.growth)
    }

    /// The id of the vault that was last opened at a path, as this machine remembers; nil if it remembers none.
    package static func rememberedVault(
        at path: String, memoryFolder: String, in fileSystem: any FileSystem
    ) -> String? {
        RollbackMemory.rememberedVault(at: path, in: MemoryFolder(path: memoryFolder, fileSystem: fileSystem))
    }
}
