/// What was found in a damaged vault, the most certain first. Every name is in one of the lists, and every value is
/// authentic.
public struct Salvage: Hashable, Sendable {
    /// The number of names with their last value.
    public internal(set) var certain = 0
    /// Names with a value of theirs whose later change or removal may be lost.
    public internal(set) var doubtful: [String] = []
    /// Names whose last value is lost, with an earlier one instead.
    public internal(set) var older: [String] = []
    /// Names without a value that opens.
    public internal(set) var lost: [String] = []
    /// How many more names are lost, as far as is known; nil if nothing says how many there were.
    public internal(set) var unnamed: Int? = 0
    /// What is damaged: parts of sentences.
    public internal(set) var damage: [String] = []
    /// Whether something may be missing that is in none of the lists.
    package internal(set) var hasGaps = false

    /// Whether the new vault has everything that the damaged one had.
    public var isComplete: Bool { !hasGaps && doubtful.isEmpty && older.isEmpty && lost.isEmpty && unnamed == 0 }

    mutating func sort() {
        // As lists of names are, bytewise.
        for list in [\Salvage.doubtful, \.older, \.lost] {
            self[keyPath: list].sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }
}
