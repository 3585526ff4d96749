/// What was found out about a place.
package struct StoreFinding: Sendable {
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
    /// How many bytes of the vault are missing.
    package let missing: UInt64
    /// As of when: milliseconds since 1970.
    package let time: UInt64

    package init(path: String, missing: UInt64, time: UInt64) {
        (self.path, self.missing, self.time) = (path, missing, time)
    }

    /// Whether it is a whole vault file.
    package var isComplete: Bool { missing == 0 }
}
