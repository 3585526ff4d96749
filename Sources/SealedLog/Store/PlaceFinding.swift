/// What was found out about a place.
package struct PlaceFinding: Sendable {
    package let name: String
    /// Sentences.
    package let message: String
    /// What to do; nil if nothing is wrong.
    package let fix: String?

    package init(_ name: String, _ message: String, fix: String? = nil) {
        (self.name, self.message, self.fix) = (name, message, fix)
    }
}

/// What this machine has kept of a vault that is elsewhere.
package struct KeptCopy: Sendable {
    package let path: String
    /// Whether it is a whole vault file.
    package let isComplete: Bool
    /// As of when: milliseconds since 1970.
    package let time: UInt64

    package init(path: String, isComplete: Bool, time: UInt64) {
        (self.path, self.isComplete, self.time) = (path, isComplete, time)
    }
}
