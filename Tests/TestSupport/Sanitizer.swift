private import Foundation

/// The sanitizer with which `Tools/test` has built the tests.
package enum Sanitizer {
    /// Whether the address sanitizer is active, in an optimized build. It manages all memory itself.
    package static let isAddress = ProcessInfo.processInfo.environment["VAULT_SANITIZER"] == "address"
}
