import LinuxSystem
package import Sealing

// A credential wraps and unwraps the data key; see Format.md, "Key slot".

extension [KeySlot] {
    /// Finds the slot that a credential opens, and derives the subkeys from its data key. Throws `keyWrong` if the
    /// credential opens no slot, or `damaged` if the slots to try exceed the cost limits for Argon2id.
    package func unlock(with credential: borrowing Credential) throws(LogError) -> KeyRing {
        // The slots are unauthenticated: without this cost check, a forged file could keep a reader busy for minutes.
        guard isBearable(for: credential) else { throw LogError.damaged("the key slots exceed the Argon2id limits") }
        return try KeyRing { (dataKey, wrappingKey) throws(LogError) in
            for slot in self where try slot.unwrap(with: credential, into: dataKey, wrappingKey) { return slot }
            throw LogError(.keyWrong)
        }
    }

    /// Unwraps the data key again with the wrapping key of the slot that opened the vault. This works even if other
    /// slots have changed in the meantime. Throws `keyWrong` if that slot has been removed.
    package func unlock(again keys: KeyRing) throws(LogError) -> KeyRing { try unlock(with: keys.wrappingCredential()) }

    /// Returns whether trying a credential stays within the cost limits for Argon2id, per slot and in total.
    package func isBearable(for credential: borrowing Credential) -> Bool {
        var cost: UInt64 = 0
        for slot in self where credential.mayOpen(slot) && credential.isStretched(by: slot) {
            guard slot.limits.isWithinBounds else { return false }
            cost += slot.limits.cost
        }
        return cost <= KeyDerivation.StretchLimits.largestCost
    }

    /// Throws `invalid` if there are no slots, or if they exceed a limit on their number, parameters or Argon2id cost.
    package func check() throws(LogError) {
        guard count <= Limits.slotCount else {
            throw LogError(.invalid, "a vault has at most \(Limits.slotCount) keys; remove one first")
        }
        guard !isEmpty else { throw LogError(.invalid, "the last key of a vault cannot be removed; add another first") }
        guard parametersSize <= Limits.slotParametersSize else {
            throw LogError(.invalid, "the header has no room for this key; remove another recipient first")
        }
        for kind in KeySlot.Kind.allCases {
            let limits = filter { $0.kind == kind.rawValue && $0.stretches }.map(\.limits)
            guard limits.allSatisfy(\.isWithinBounds),
                limits.reduce(0, { $0 + $1.cost }) <= KeyDerivation.StretchLimits.largestCost
            else {
                throw LogError(
                    .invalid,
                    "the keys of one kind exceed the Argon2id limits (\(KeyDerivation.StretchLimits.bounds)); "
                        + "remove one first")
            }
        }
    }
}

extension KeySlot {
    /// Creates a slot for a credential. The slot does not contain a data key yet.
    ///
    /// - Parameter limits: the cost parameters of Argon2id, ignored if slots of this kind do not use Argon2id.
    package init(
        for credential: borrowing Credential, limits: KeyDerivation.StretchLimits, parameters: [UInt8] = []
    ) throws(LogError) {
        guard let kind = credential.slotKind else { throw LogError(.invalid, "this kind of secret cannot be a key") }
        let salt = credential.slotSalt ?? RandomBytes.array(KeyDerivation.saltSize)
        self.init(
            kind: kind.rawValue, salt: salt, limits: .init(passes: 0, memory: 0), nonce: NonceSource.one(),
            wrapped: [UInt8](repeating: 0, count: KeySlot.wrappedSize), parameters: parameters)
        guard stretches else { return }
        guard limits.isWithinBounds, limits.cost <= KeyDerivation.StretchLimits.largestCost else {
            throw LogError(.invalid, "the Argon2id parameters are out of range (\(KeyDerivation.StretchLimits.bounds))")
        }
        self.limits = limits
    }

    /// Returns the slot with the data key wrapped for a credential. Writes the wrapping key to `wrappingKey`.
    package func wrapping(
        _ dataKey: UnsafeRawBufferPointer, with credential: borrowing Credential,
        _ wrappingKey: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> KeySlot {
        try translated(credential.derive(wrappingKey, of: self))
        return try wrapping(dataKey, under: UnsafeRawBufferPointer(wrappingKey))
    }

    /// Returns the slot with a data key wrapped under the slot's wrapping key.
    package func wrapping(
        _ dataKey: UnsafeRawBufferPointer, under wrappingKey: UnsafeRawBufferPointer
    ) throws(LogError) -> KeySlot {
        var slot = self
        let nonce = NonceSource.one()
        slot.nonce = nonce
        try slot.wrapped.withMutableRawBytes { (box) throws(LogError) in
            try translated(SecretBox.seal(dataKey, nonce: nonce, key: wrappingKey, into: box))
        }
        return slot
    }

    /// Unwraps the data key; returns false if the credential cannot. Throws `damaged` for invalid Argon2id parameters.
    func unwrap(
        with credential: borrowing Credential, into dataKey: UnsafeMutableRawBufferPointer,
        _ wrappingKey: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> Bool {
        guard credential.mayOpen(self) else { return false }
        do throws(SealingError) {
            try credential.derive(wrappingKey, of: self)
            try wrapped.withRawBytes { (box) throws(SealingError) in
                try SecretBox.open(box, nonce: nonce, key: UnsafeRawBufferPointer(wrappingKey), into: dataKey)
            }
            return true
        } catch {
            guard error.code == .forged else { throw LogError(error) }
            return false
        }
    }
}

extension KeyRing {
    /// Returns a credential for the slot that opened the vault. Throws `keyWrong` if no slot was used.
    package func wrappingCredential() throws(LogError) -> Credential {
        guard let slot else { throw LogError(.keyWrong) }
        let key = try withWrappingKey { (key) throws(LogError) in try translated(SecretBytes(copyOf: key, isKey: true))
        }
        return .wrappingKey(key, ofSlotWith: slot.salt)
    }
}
