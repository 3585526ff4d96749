/// The result of one check of a location.
package struct StoreFinding: Sendable {
    package let name: String
    /// The result in whole sentences.
    package let message: String
    /// The fix; nil if nothing is wrong.
    package let fix: String?

    package init(_ name: String, _ message: String, fix: String? = nil) {
        self.name = name
        self.message = message
        self.fix = fix
    }
}

/// The copy that this machine keeps of a vault on a server.
package struct KeptCopy: Sendable {
    package let path: String
    /// The number of bytes of the vault that are missing.
    package let missing: UInt64
    /// The time of the copy in milliseconds since 1970.
    package let time: UInt64

    package init(path: String, missing: UInt64, time: UInt64) {
        self.path = path
        self.missing = missing
        self.time = time
    }

    /// Whether the copy is a complete vault file.
    package var isComplete: Bool { missing == 0 }
}
