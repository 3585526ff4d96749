import Sealing

/// A value in guarded memory, which collections can hold.
final class HeldValue: Sendable {
    /// The value's description in messages, as the beginning of a sentence.
    let label: String
    let bytes: SecretBytes

    init(_ label: String, _ bytes: consuming SecretBytes) {
        self.label = label
        self.bytes = bytes
    }

    /// - Parameter what: the target that cannot hold a zero byte, such as "a variable".
    func checkForText(_ what: String) throws(CommandError) {
        guard bytes.withUnsafeBytes({ $0.contains(0) }) else { return }
        throw .invalid("\(label) contains a zero byte, which \(what) cannot hold.")
    }
}
