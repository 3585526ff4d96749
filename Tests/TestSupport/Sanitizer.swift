private import Foundation

/// What `Tools/test` has built the tests with.
package enum Sanitizer {
    /// Whether the address sanitizer watches, in an optimized build: it sees to all memory itself.
    package static let isAddress = ProcessInfo.processInfo.environment["VAULT_SANITIZER"] == "address"
}
