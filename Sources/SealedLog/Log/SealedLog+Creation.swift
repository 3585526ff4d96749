import LinuxSystem
package import Sealing

extension SealedLog {
    /// Creates a new, empty vault and makes it durable.
    ///
    /// - Parameters:
    ///   - secret: the first key of the vault.
    ///   - limits: the key stretching limits for a secret that a person has chosen; they set the cost of each guess.
    ///   - parameters: the parameters of the key slot.
    ///   - label: the label of the key slot, for display; at most 256 bytes.
    ///   - history: the limits on each name's history.
    /// - Throws: `exists` if there is already a vault at the location; `unavailable` or `outOfMemory` (nothing was
    ///   created); `outcomeUnknown` if the vault was created but might not survive a power loss before its next use.
    package static func create(
        _ location: any StoreLocation, secret: borrowing Credential, limits: KeyDerivation.StretchLimits = .recommended,
        parameters: [UInt8] = [], label: String, history: KeptHistory = .none, options: Options
    ) throws(LogError) -> SealedLog {
        let label = try SlotLabel(ofNew: label)
        let (keys, slot) = try newKeys { (dataKey, wrappingKey) throws(LogError) in
            let slot = try KeySlot(for: secret, limits: limits, parameters: parameters)
            return try slot.wrapping(dataKey, with: secret, wrappingKey)
        }
        try [slot].check()
        let manifest = Manifest(created: label.created, labels: [label])
        return try create(location, keys: keys, options: options) { (checkpoint) throws(LogError) in
            try checkpoint.finish(manifest, slots: [slot], history: history)
        }
    }

    /// Generates a data key and the slot that wraps it.
    ///
    /// - Parameter wrap: wraps the data key, writes the wrapping key to `wrappingKey`, and returns the slot.
    static func newKeys(
        _ wrap: (_ dataKey: UnsafeRawBufferPointer, _ wrappingKey: UnsafeMutableRawBufferPointer)
            throws(LogError) -> KeySlot
    ) throws(LogError) -> (KeyRing, KeySlot) {
        var slot: KeySlot?
        let keys = try KeyRing { (dataKey, wrappingKey) throws(LogError) in
            RandomBytes.fill(dataKey)
            slot = try wrap(UnsafeRawBufferPointer(dataKey), wrappingKey)
            return slot
        }
        guard let slot else { throw LogError(.invalid, "a vault needs a key") }
        return (keys, slot)
    }

    /// Creates a vault. `write` must write and finish the vault's checkpoint.
    static func create(
        _ location: any StoreLocation, keys: KeyRing, options: Options,
        write: (inout CheckpointWriter) throws(LogError) -> Void
    ) throws(LogError) -> SealedLog {
        let store = try location.createUnpublished()
        var view: LogView
        do throws(LogError) {
            var checkpoint = CheckpointWriter(into: store, keys: keys)
            try write(&checkpoint)
            view = try HeaderImage(of: store).view(with: keys)
            try view.replaceCopy(isAccepted: true)
            try store.publish(over: nil, view.origin)
        } catch {
            store.discard()
            throw error
        }
        let memory = options.memory(of: view, at: location)
        let log = SealedLog(view, memory, options)
        // If flushing the file's directory entry fails, the file is kept, since other processes may already use it.
        do { try log.writer.withLock { (writer) throws(LogError) in try log.flushName(&writer) } } catch {
            throw error.ofUnknownOutcome
        }
        memory?.remember(view.origin)
        return shared(log)
    }

    /// Returns the ID in a vault's header; nil if there is no vault. The ID is not authenticated.
    package static func vaultID(at location: any StoreLocation) -> [UInt8]? {
        guard let store = try? location.open(.damaged), let bytes = try? store.available(at: 0, upTo: Header.size)
        else { return nil }
        return (try? Header(parsing: bytes))?.vaultID
    }

    /// Returns whether this machine has opened a vault at a location.
    package static func remembersVault(at location: any StoreLocation, memoryFolder: String) -> Bool {
        RollbackMemory.remembersVault(
            at: location.path, in: MemoryFolder(path: memoryFolder, fileSystem: location.files))
    }
}
