package import Sealing

/// A secret in guarded memory that copies of a structure can share. It is wiped when its last reference is released.
package final class HeldSecret: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}
