import LinuxSystem
import Sealing

extension SealedLog {
    /// Returns what the log ends with, as one word: two machines that exchange it by another way than the store notice
    /// that the store shows them different histories.
    package func headText() throws(LogError) -> String {
        let head = try read(isSure: true) { (view) throws(LogError) in view.head }
        let authenticator = Hexadecimal.string(of: head.authenticator.bytes)
        return "\(Hexadecimal.string(of: vaultID)):\(head.sequence):\(authenticator)"
    }

    /// Returns whether this history includes what another machine's ended with; nil if it is not that long.
    ///
    /// - Throws: `invalid` for a word that is none, or another vault's.
    package func includesHead(_ text: String) throws(LogError) -> Inclusion? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].elementsEqual(Hexadecimal.string(of: vaultID)),
            let sequence = UInt64(parts[1]), let bytes = Hexadecimal.bytes(parts[2], count: Authenticator.size)
        else { throw LogError(.invalid, "that is no end of this vault's history") }
        let position = LogPosition(sequence: sequence, authenticator: bytes.withUnsafeBytes { Authenticator($0) })
        return try read(isSure: true) { (view) throws(LogError) in
            sequence <= view.head.sequence ? try view.includes(position) : nil
        }
    }
}
