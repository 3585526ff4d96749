/// Where the vault of a run is, as somebody without a key reaches it.
protocol VaultStorage: AnyObject {
    /// Keeps the vault as it is. Returns false if there is none.
    func takeBackUp() -> Bool
    /// Puts the older vault in place of this one, or another one under the same key. Returns false if that cannot be.
    ///
    /// - Parameter inPlace: whether whoever has it open has the other one open then.
    func exchange(for other: OtherVault, overwriting: Bool) -> Bool
    /// Changes a bit. Returns false if there is no vault.
    ///
    /// - Parameters: which one, between 0 and 1.
    func changeByte(at location: Double, bit: Double) -> Bool
    /// Undoes what was done last, and leaves what was written since. Returns false if a compaction has copied it.
    func putBack() -> Bool
}

enum OtherVault { case backUp, foreign }
