import LinuxSystem
package import Sealing

/// The key slots of a vault with their labels, and changes to them: ``SealedLog/changeKeys(timeout:_:_:)`` writes what
/// comes out.
package struct SlotTable: Sendable {
    package private(set) var slots: [KeySlot]
    package private(set) var labels: [SlotLabel]
    /// How much of a name's history is kept.
    package var history: KeptHistory
    /// Those that opened the vault.
    private let keys: KeyRing
    /// Those of a new data key; nil if it stays.
    private(set) var rotated: KeyRing?

    init(_ header: Header, _ labels: [SlotLabel], _ keys: KeyRing) {
        (slots, history, self.labels, self.keys) = (header.slots, header.history, labels, keys)
    }

    /// The index of the slot that opened the vault; nil if it has been removed since.
    package var own: Int? { keys.slotSalt.flatMap { salt in slots.firstIndex { $0.salt == salt } } }

    /// Adds a slot.
    ///
    /// - Parameters:
    ///   - limits: Argon2id's, unless the kind does not use it.
    ///   - recipient: the public key, for a recipient.
    /// - Throws: `invalid` if there is no room, or for a label or limits out of bounds; `keyWrong` if the slot that
    ///   opened the vault has been removed meanwhile.
    package mutating func add(
        _ credential: borrowing Credential, limits: KeyDerivation.StretchLimits, parameters: [UInt8] = [],
        label: String, recipient: String = ""
    ) throws(LogError) {
        let label = try SlotLabel(text: label, recipient: recipient)
        let slot = try KeySlot(for: credential, limits: limits, parameters: parameters)
        try (slots + [slot]).check()
        slots.append(try wrapped(slot, with: credential))
        labels.append(label)
    }

    /// Removes a slot. Throws `invalid` if it is the last one.
    package mutating func remove(at index: Int) throws(LogError) {
        // Another process may have removed a slot meanwhile.
        guard slots.indices.contains(index) else { throw LogError(.conflict) }
        var remaining = slots
        remaining.remove(at: index)
        try remaining.check()
        slots = remaining
        labels.remove(at: index)
    }

    /// Lets a slot be opened by another secret, and by the former one no more. It keeps its label.
    ///
    /// - Throws: as ``add(_:limits:parameters:label:recipient:)``.
    package mutating func replace(
        at index: Int, by credential: borrowing Credential, limits: KeyDerivation.StretchLimits,
        parameters: [UInt8] = []
    ) throws(LogError) {
        guard slots.indices.contains(index) else { throw LogError(.conflict) }
        var changed = slots
        changed[index] = try KeySlot(for: credential, limits: limits, parameters: parameters)
        try changed.check()
        slots[index] = try wrapped(changed[index], with: credential)
        labels[index] = try SlotLabel(text: labels[index].text, recipient: labels[index].recipient)
    }

    /// Raises the cost of a guess at a slot's secret.
    ///
    /// - Throws: `invalid` for limits that are out of bounds or do not raise the cost, and for a kind without a cost;
    ///   `keyWrong` if the credential opens no slot.
    package mutating func raise(
        _ credential: borrowing Credential, to limits: KeyDerivation.StretchLimits
    ) throws(LogError) {
        guard let index = try index(openedBy: credential) else { throw LogError(.keyWrong) }
        guard slots[index].stretches else { throw LogError(.invalid, "a generated key file needs no stretching") }
        guard limits.isWithinBounds, limits.cost > slots[index].limits.cost else {
            throw LogError(.invalid, "the cost is only ever raised, to \(KeyDerivation.StretchLimits.bounds)")
        }
        let label = labels[index]
        try replace(at: index, by: credential, limits: limits, parameters: slots[index].parameters)
        labels[index] = label
    }

    /// Finds the slot that a credential opens; nil if there is none. Throws `damaged` for too much work.
    package func index(openedBy credential: borrowing Credential) throws(LogError) -> Int? {
        do throws(LogError) {
            let salt = try slots.unlock(with: credential).slotSalt
            return slots.firstIndex { $0.salt == salt }
        } catch {
            guard error.code == .keyWrong else { throw error }
            return nil
        }
    }

    /// Returns limits whose cost leaves room for two more slots of the kind, or takes what others leave.
    package func affordable(
        _ limits: KeyDerivation.StretchLimits, for credential: borrowing Credential
    ) -> KeyDerivation.StretchLimits {
        let taken = slots.filter { $0.kind == credential.slotKind?.rawValue }.reduce(0) { $0 + $1.limits.cost }
        let left = KeyDerivation.StretchLimits.largestCost - min(taken, KeyDerivation.StretchLimits.largestCost)
        let most = min(left, KeyDerivation.StretchLimits.largestCost / 3)
        guard limits.cost > most, most >= KeyDerivation.StretchLimits.recommended.cost / 3 else { return limits }
        return KeyDerivation.StretchLimits(passes: limits.passes, memory: most / limits.passes)
    }

    // MARK: The data key

    private func wrapped(_ slot: KeySlot, with credential: borrowing Credential) throws(LogError) -> KeySlot {
        var scratch = try translated(SecretBytes(zeros: 2 * SecretBox.keySize, isKey: true))
        return try scratch.withUnsafeMutableBytes { (scratch) throws(LogError) in
            let dataKey = UnsafeMutableRawBufferPointer(rebasing: scratch[..<SecretBox.keySize])
            let wrappingKey = UnsafeMutableRawBufferPointer(rebasing: scratch[SecretBox.keySize...])
            try slots.unwrap(with: keys, into: dataKey, wrappingKey)
            return try slot.wrapping(UnsafeRawBufferPointer(dataKey), with: credential, wrappingKey)
        }
    }

    // MARK: Rotation

    /// What a slot is wrapped anew with.
    package struct Renewal: ~Copyable {
        let credential: Credential
        let parameters: [UInt8]

        /// - Parameter parameters: those of a recipient, whose file key is a new one.
        package init(_ credential: consuming Credential, parameters: [UInt8]) {
            self.credential = credential
            self.parameters = parameters
        }
    }

    /// Generates a new data key, and wraps it in every slot.
    ///
    /// - Parameter renew: finds what a slot other than ``own`` is wrapped with: the secret that opens it, or a new file
    ///   key for a recipient.
    /// - Throws: `keyWrong` for a secret that does not open its slot; what `renew` throws.
    package mutating func rotate(
        _ renew: (_ index: Int, KeySlot, SlotLabel) throws(LogError) -> Renewal
    ) throws(LogError) {
        guard let own else { throw LogError(.keyWrong) }
        var renewed = slots
        rotated = try KeyRing { (dataKey, wrappingKey) throws(LogError) in
            RandomBytes.fill(dataKey)
            let newKey = UnsafeRawBufferPointer(dataKey)
            for index in slots.indices where index != own {
                let renewal = try renew(index, slots[index], labels[index])
                if renewal.credential.slotKind == .recipient {
                    let slot = try KeySlot(
                        for: renewal.credential, limits: slots[index].limits, parameters: renewal.parameters)
                    renewed[index] = try slot.wrapping(newKey, with: renewal.credential, wrappingKey)
                } else {
                    guard try renewal.credential.opens(slots[index]) else { throw LogError(.keyWrong) }
                    renewed[index] = try slots[index].wrapping(newKey, with: renewal.credential, wrappingKey)
                }
            }
            try keys.withWrappingKey { (key) throws(LogError) in
                wrappingKey.copyMemory(from: key)
                renewed[own] = try slots[own].wrapping(newKey, under: key)
            }
            return slots[own].salt
        }
        try renewed.check()
        slots = renewed
    }
}

extension Credential {
    package borrowing func opens(_ slot: KeySlot) throws(LogError) -> Bool {
        do throws(LogError) { _ = try [slot].unlock(with: self) } catch {
            guard error.code == .keyWrong else { throw error }
            return false
        }
        return true
    }
}

extension [KeySlot] {
    /// Unwraps the data key by the wrapping key of the slot that opened the vault. Throws `keyWrong`.
    fileprivate func unwrap(
        with keys: KeyRing, into dataKey: UnsafeMutableRawBufferPointer, _ wrappingKey: UnsafeMutableRawBufferPointer
    ) throws(LogError) {
        let credential = try keys.wrappingCredential()
        for slot in self where try slot.unwrap(with: credential, into: dataKey, wrappingKey) { return }
        throw LogError(.keyWrong)
    }
}
