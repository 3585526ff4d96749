/// What a salvage has found, in the order of trust. Every name is in one of them.
package struct SalvageReport: Hashable, Sendable {
    /// Names whose value is the last one that the vault had.
    package internal(set) var certain: UInt64 = 0
    /// Names whose value is authentic, but a later one or a removal may be lost.
    package internal(set) var doubtful: [String] = []
    /// Names whose last value is lost, with an earlier one in its place.
    package internal(set) var older: [String] = []
    /// Names without a value that opens.
    package internal(set) var lost: [String] = []
    /// How many more names the vault held by its own account; nil if nothing says how many it held.
    package internal(set) var unnamed: UInt64? = 0
    /// What is damaged, in words.
    package internal(set) var damage: [String] = []
    /// Whether something may be missing of which no list above knows.
    package internal(set) var hasGaps = false

    /// Whether the new vault holds all that the damaged one did.
    package var isComplete: Bool {
        !hasGaps && doubtful.isEmpty && older.isEmpty && lost.isEmpty && unnamed == 0
    }

    mutating func sort() {
        // As lists of names are, by their bytes.
        for list in [\SalvageReport.doubtful, \.older, \.lost] {
            self[keyPath: list].sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }
}
