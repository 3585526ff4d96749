package import Sealing

/// A secret in guarded memory, which the copies of what holds it share. It is wiped with the last of them.
package final class HeldSecret: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}
