package import Sealing

/// Figures about a vault; no name and no value among them.
package struct LogInformation: Sendable {
    package let vaultID: String
    package let created: UInt64
    package let sequence: UInt64
    package let totals: Totals
    package let fileSize: UInt64
    /// Records since the whole checkpoint.
    package let recordsSinceCheckpoint: UInt64
    /// `limits` are those of Argon2id; nil where nothing is stretched.
    package let slots: [(kind: String, limits: KeyDerivation.StretchLimits?, label: String, created: UInt64)]
    package let remembers: Bool
    /// What does not keep the vault from being used, and should be known.
    package let problems: [Notice]
}

extension SealedLog {
    package func information() throws(LogError) -> LogInformation {
        let view = try read { (view) throws(LogError) in view }
        let manifest = try view.manifest()
        var problems = memory?.problem().map { [$0] } ?? []
        let isMemoryUsable = problems.isEmpty
        if let upkeep = memory?.upkeep(), upkeep.origin == view.origin.authenticator {
            problems.append(.compactionFailed(upkeep.error))
        }
        return LogInformation(
            vaultID: Hexadecimal.string(of: vaultID), created: manifest.created, sequence: view.head.sequence,
            totals: view.totals ?? manifest.totals, fileSize: try view.store.size(),
            recordsSinceCheckpoint: view.head.sequence - view.origin.sequence,
            slots: zip(view.header.slots, manifest.labels).map { slot, label in
                (slot.kindName, slot.limits.passes == 0 ? nil : slot.limits, label.text, label.created)
            },
            remembers: isMemoryUsable && memory?.seen() != nil, problems: problems)
    }
}
