import LinuxSystem
import Sealing

extension SealedLog {
    /// Returns the log's newest position as one word. If two machines exchange it independently of the store, they
    /// notice when the store shows them different histories.
    package func headText() throws(LogError) -> String {
        let head = try read(isSure: true) { (view) throws(LogError) in view.head }
        let authenticator = Hexadecimal.string(of: head.authenticator.bytes)
        return "\(Hexadecimal.string(of: vaultID)):\(head.sequence):\(authenticator)"
    }

    /// Returns whether this history includes another machine's newest position; nil if the position is later than this
    /// log's.
    ///
    /// - Throws: `invalid` for text that is not a position, or that belongs to another vault.
    package func includesHead(_ text: String) throws(LogError) -> Inclusion? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].elementsEqual(Hexadecimal.string(of: vaultID)),
            let sequence = UInt64(parts[1]), let bytes = Hexadecimal.bytes(parts[2], count: Authenticator.size)
        else { throw LogError(.invalid, "that is not a position in this vault's history") }
        let position = LogPosition(sequence: sequence, authenticator: bytes.withUnsafeBytes { Authenticator($0) })
        return try read(isSure: true) { (view) throws(LogError) in
            sequence <= view.head.sequence ? try view.includes(position) : nil
        }
    }
}
