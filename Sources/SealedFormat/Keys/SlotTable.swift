import LinuxSystem
package import Sealing

/// The key slots of a vault with their labels, for editing. ``SealedLog/changeKeys(timeout:_:_:)`` writes the result.
package struct SlotTable: Sendable {
    package private(set) var slots: [KeySlot]
    package var labels: [SlotLabel]
    package var history: KeptHistory
    package var isAccessLogged: Bool
    package var members: MemberList
    private let keys: KeyRing
    /// The subkeys of the new data key after a rotation; nil if there was no rotation.
    package private(set) var rotated: KeyRing?
    package private(set) var removedKeys: [SlotLabel.ID] = []
    /// The IDs of the keys that were removed earlier, as listed in the manifest.
    package let removedBefore: [SlotLabel.ID]

    package init(_ header: Header, _ manifest: Manifest, _ members: MemberList, _ keys: KeyRing) {
        slots = header.slots
        history = header.history
        self.members = members
        self.keys = keys
        labels = manifest.labels
        removedBefore = manifest.removedKeys
        isAccessLogged = header.isAccessLogged
    }

    /// Returns the label for a new key, changed if necessary so that no current or removed key has the same ID.
    private func new(_ label: SlotLabel) -> SlotLabel {
        label.renamed(besides: Set(labels.map(\.id) + removedBefore + removedKeys))
    }

    /// Creates a new label with the same text for a slot whose secret was replaced. The former key counts as removed.
    private mutating func relabel(_ index: Int, recipient: String = "") throws(LogError) {
        let label = try new(SlotLabel(text: labels[index].text, recipient: recipient))
        removedKeys.append(labels[index].id)
        labels[index] = label
    }

    /// The index of the slot that opened the vault; nil if it has since been removed.
    package var own: Int? { keys.slot.flatMap { own in slots.firstIndex { $0.salt == own.salt } } }

    package var shown: [LogKeySlot] {
        zip(slots, labels).map { slot, label in
            LogKeySlot(slot, label, isOwn: slot.salt == (rotated ?? keys).slot?.salt)
        }
    }

    /// Adds a slot that a credential opens.
    /// - Parameters:
    ///   - limits: the cost parameters of Argon2id, ignored if slots of this kind do not use Argon2id.
    ///   - recipient: the public key of a recipient; empty for other kinds of slots.
    /// - Throws: `invalid` if there is no room, the label could be mistaken for another, or `limits` are out of range;
    ///   `keyWrong` if another process has removed the slot that opened the vault.
    package mutating func add(
        _ credential: borrowing Credential, limits: KeyDerivation.StretchLimits, parameters: [UInt8] = [],
        label: String, recipient: String = ""
    ) throws(LogError) {
        let label = try new(SlotLabel(ofNew: label, recipient: recipient))
        let slot = try KeySlot(for: credential, limits: limits, parameters: parameters)
        try (slots + [slot]).check()
        slots.append(try wrapped(slot, with: credential))
        labels.append(label)
    }

    /// Removes a slot. Throws `invalid` for the last slot, and `slotGone` if there is no such slot.
    package mutating func remove(_ salt: [UInt8]) throws(LogError) {
        let index = try index(of: salt)
        var remaining = slots
        remaining.remove(at: index)
        try remaining.check()
        slots = remaining
        removedKeys.append(labels.remove(at: index).id)
    }

    /// Returns this vault's keys whose IDs are in `removed`, except the key that opened this vault.
    package func keys(removed: Set<SlotLabel.ID>) -> [LogKeySlot] {
        zip(shown, labels).filter { !$0.isOwn && removed.contains($1.id) }.map(\.0)
    }

    /// Keeps keys that another copy has removed. They get new labels, so that they count as added after the removal.
    package mutating func keep(_ names: Set<SlotLabel.ID>) {
        for index in labels.indices where names.contains(labels[index].id) {
            let old = labels[index]
            // The new time must be later than the old one, which a holder of the data key may have put in the future.
            let label = SlotLabel(
                created: max(Clock.milliseconds, old.created &+ 1), text: old.text, recipient: old.recipient)
            labels[index] = new(label)
        }
    }

    /// Replaces a slot's secret, but keeps the label's text. Guessing the new secret costs at least as much as before.
    ///
    /// - Throws: the same errors as ``add(_:limits:parameters:label:recipient:)``; `slotGone`.
    package mutating func replace(
        _ salt: [UInt8], by credential: borrowing Credential, limits: KeyDerivation.StretchLimits,
        parameters: [UInt8] = []
    ) throws(LogError) {
        let index = try index(of: salt)
        try exchange(index, by: credential, limits: limits, parameters: parameters)
        try relabel(index, recipient: labels[index].recipient)
    }

    private mutating func exchange(
        _ index: Int, by credential: borrowing Credential, limits: KeyDerivation.StretchLimits, parameters: [UInt8]
    ) throws(LogError) {
        var changed = slots
        changed[index] = try slots[index].replaced(by: credential, limits: limits, parameters: parameters)
        try changed.check()
        slots[index] = try wrapped(changed[index], with: credential)
    }

    /// Returns the index of the slot with this salt. Throws `slotGone` if another process has removed the slot.
    private func index(of salt: [UInt8]) throws(LogError) -> Int {
        guard let index = slots.firstIndex(where: { $0.salt == salt }) else { throw LogError(.slotGone) }
        return index
    }

    /// Raises the cost of guessing a slot's secret.
    ///
    /// - Throws: `invalid` if `limits` are out of range or do not raise the cost, or if the secret is not stretched;
    ///   `keyWrong` if the credential opens no slot.
    package mutating func raise(
        _ credential: borrowing Credential, to limits: KeyDerivation.StretchLimits
    ) throws(LogError) {
        guard let index = try index(openedBy: credential) else { throw LogError(.keyWrong) }
        guard slots[index].stretches else { throw LogError(.invalid, "a generated key file needs no stretching") }
        guard limits.isWithinBounds, limits.cost > slots[index].limits.cost else {
            throw LogError(.invalid, "the cost can only be raised (bounds: \(KeyDerivation.StretchLimits.bounds))")
        }
        try exchange(index, by: credential, limits: limits, parameters: slots[index].parameters)
    }

    /// Returns the index of the slot that a credential opens; nil if there is none. Throws `damaged` if the slots
    /// exceed the cost limits for Argon2id.
    package func index(openedBy credential: borrowing Credential) throws(LogError) -> Int? {
        try slots.index(openedBy: credential)
    }

    /// Returns `limits`, with less memory if they cost more than a third of the maximum total for slots of this kind or
    /// than the others leave of it. Returns `limits` unchanged if less than a third of the recommended cost is left.
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

    /// The credential that will open a slot after a rotation. The caller must obtain it before the rotation.
    package final class Renewal: Sendable {
        fileprivate let credential: Credential
        /// The parameters of the slot that replaces the current one; nil if the credential opens the current slot.
        fileprivate let parameters: [UInt8]?
        /// Whether the credential is a new secret that replaces the slot's secret.
        fileprivate let isReplacement: Bool

        /// Creates a renewal that keeps the slot's secret. Returns nil if the credential does not open the slot.
        package init?(of slot: KeySlot, openedBy credential: borrowing Credential) throws(LogError) {
            guard let keys = try unless(.keyWrong, [slot].unlock(with: credential)) else { return nil }
            self.credential = try keys.wrappingCredential()
            parameters = nil
            isReplacement = false
        }

        package init(recipient credential: consuming Credential, stanzas: [UInt8]) {
            self.credential = credential
            parameters = stanzas
            isReplacement = false
        }

        /// Creates a renewal that replaces the slot's secret.
        package init(replacingBy credential: consuming Credential) {
            self.credential = credential
            parameters = []
            isReplacement = true
        }

        /// Returns the slot with the new data key wrapped in it. Writes the slot's wrapping key to `wrappingKey`.
        fileprivate func wrapping(
            _ dataKey: UnsafeRawBufferPointer, for slot: KeySlot, _ wrappingKey: UnsafeMutableRawBufferPointer
        ) throws(LogError) -> KeySlot {
            var slot = slot
            if let parameters { slot = try slot.replaced(by: credential, limits: .recommended, parameters: parameters) }
            return try slot.wrapping(dataKey, with: credential, wrappingKey)
        }
    }

    /// Generates a new data key and wraps it in all slots.
    /// - Parameters:
    ///   - ownRenewal: the renewal of the slot ``own``; if nil, the slot keeps its secret.
    ///   - renew: returns the renewal of a slot. It is called for every slot except ``own``.
    /// - Throws: `slotGone` if the slot that opened the vault has since been removed; `slotExists` if a new secret
    ///   already opens the vault; `invalid` if one new secret would replace two slots' secrets; the errors of `renew`.
    package mutating func rotate(
        own ownRenewal: Renewal? = nil, _ renew: (KeySlot) throws(LogError) -> Renewal
    ) throws(LogError) {
        guard let own else { throw LogError(.slotGone) }
        var renewed = slots
        var replacements: [KeySlot] = []
        var replaced: [Int] = []
        rotated = try KeyRing { (dataKey, wrappingKey) throws(LogError) in
            RandomBytes.fill(dataKey)
            let newKey = UnsafeRawBufferPointer(dataKey)
            func wrap(_ index: Int, with renewal: Renewal) throws(LogError) {
                if renewal.isReplacement {
                    try checkIsNew(renewal.credential)
                    replaced.append(index)
                }
                renewed[index] = try renewal.wrapping(newKey, for: slots[index], wrappingKey)
                if renewal.isReplacement {
                    guard try replacements.index(openedBy: renewal.credential) == nil else {
                        throw LogError(.invalid, "the same key file cannot replace two keys")
                    }
                    replacements.append(renewed[index])
                }
            }
            for index in slots.indices where index != own { try wrap(index, with: renew(slots[index])) }
            // The slot that opened the vault comes last, because its wrapping key must remain in `wrappingKey`.
            if let ownRenewal {
                try wrap(own, with: ownRenewal)
            } else {
                try keys.withWrappingKey { (key) throws(LogError) in
                    wrappingKey.copyMemory(from: key)
                    renewed[own] = try slots[own].wrapping(newKey, under: key)
                }
            }
            return renewed[own]
        }
        try renewed.check()
        slots = renewed
        for index in replaced { try relabel(index) }
    }

    package func checkIsNew(_ credential: borrowing Credential) throws(LogError) {
        guard let index = try index(openedBy: credential) else { return }
        throw LogError(.slotExists, "key \(index + 1)")
    }
}

extension KeySlot {
    /// Returns the slot that replaces this one. Guessing the new secret costs at least as much as guessing the old one.
    fileprivate func replaced(
        by credential: borrowing Credential, limits: KeyDerivation.StretchLimits, parameters: [UInt8]
    ) throws(LogError) -> KeySlot {
        try KeySlot(
            for: credential, limits: limits.cost < self.limits.cost ? self.limits : limits, parameters: parameters)
    }
}

extension [KeySlot] {
    fileprivate func index(openedBy credential: borrowing Credential) throws(LogError) -> Int? {
        try unless(.keyWrong, unlock(with: credential))?.slot.flatMap { firstIndex(of: $0) }
    }

    /// Unwraps the data key with the wrapping key of the slot that opened the vault. Throws `keyWrong`.
    fileprivate func unwrap(
        with keys: KeyRing, into dataKey: UnsafeMutableRawBufferPointer, _ wrappingKey: UnsafeMutableRawBufferPointer
    ) throws(LogError) {
        let credential = try keys.wrappingCredential()
        for slot in self where try slot.unwrap(with: credential, into: dataKey, wrappingKey) { return }
        throw LogError(.keyWrong)
    }
}

extension SlotTable {
    /// The identity of a key, the same in all copies of a vault. It omits the salt of a recipient's slot, because a
    /// rotation changes that salt; the label alone identifies the recipient.
    package struct Identity: Hashable {
        let label: SlotLabel
        let salt: [UInt8]
    }

    package var identities: [Identity] {
        zip(slots, labels).map { slot, label in Identity(label: label, salt: slot.isOfRecipient ? [] : slot.salt) }
    }
}
