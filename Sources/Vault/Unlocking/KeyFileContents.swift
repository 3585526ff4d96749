public import Sealing

/// The contents of a key file, given by the program: from a descriptor, a device, another vault. Copies of
/// ``Keychain/Options`` share it.
public final class KeyFileContents: Sendable {
    let secret: SecretBytes

    /// Takes all bytes of the file that is not there. They are checked when a vault is opened.
    public init(_ secret: consuming SecretBytes) { self.secret = secret }
}
