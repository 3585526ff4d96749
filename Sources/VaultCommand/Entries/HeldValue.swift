import Sealing

/// A value in guarded memory, which collections can hold.
final class HeldValue: Sendable {
    /// What it is in messages, as the beginning of a sentence.
    let label: String
    let bytes: SecretBytes

    init(_ label: String, _ bytes: consuming SecretBytes) {
        self.label = label
        self.bytes = bytes
    }

    /// - Parameter what: what cannot hold a zero byte, such as "a variable".
    func checkForText(_ what: String) throws(CommandError) {
        guard bytes.withUnsafeBytes({ $0.contains(0) }) else { return }
        throw .invalid("\(label) has a zero byte, which \(what) cannot have.")
    }
}
