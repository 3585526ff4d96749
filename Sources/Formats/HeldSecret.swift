package import Sealing

/// A secret in guarded memory. Copies of a structure can share it. The last one to be released wipes it.
package final class HeldSecret: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}
