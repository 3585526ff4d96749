package import Sealing

/// A secret in guarded memory that is shared by the copies of its container, and wiped with the last of them.
package final class HeldSecret: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}
