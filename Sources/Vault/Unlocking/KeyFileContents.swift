package import Sealing

/// What a key file would contain, given by the program: read from a descriptor, say. Shared by copies of the options.
package final class KeyFileContents: Sendable {
    let secret: SecretBytes

    package init(_ secret: consuming SecretBytes) { self.secret = secret }
}
