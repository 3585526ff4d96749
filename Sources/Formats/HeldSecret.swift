package import Sealing

/// A secret in guarded memory. Copies of a structure can share it, and it is wiped when the last of them is released.
package final class HeldSecret: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}
