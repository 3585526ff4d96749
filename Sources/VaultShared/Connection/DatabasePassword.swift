import Formats
import SealedLog
import Sealing
import Vault

/// The password for a database, in an entry of this machine's own vault. It is read as other programs read: the entry's
/// policy and the access log count.
struct DatabasePassword: Sendable {
    private let name: String
    /// What the access log calls the reader, and a policy would.
    private static let reader = "password-entry"

    init(inEntry name: String) { self.name = name }

    /// Reads the entry for servers that it is marked for. Returns a C string.
    func read(for servers: [VerifiedServer]) throws(PostgresError) -> HeldSecret {
        do throws(VaultError) {
            var location = try VaultLocation.local()
            guard !location.isInDatabase else {
                throw VaultError(.invalid, "This machine's own vault is in a database.")
            }
            location.cache = nil
            let vault = location.vault
            let found = try Keychain(at: location).read(
                name, for: DatabasePassword.reader,
                check: { (attributes) throws(VaultError) in
                    try VerifiedServer.check(servers, attributes, of: name, in: vault)
                }, access: { Access(to: name, by: DatabasePassword.reader) })
            guard let found else { throw VaultError(.absent, "There is no entry named \"\(name)\" in \(vault).") }
            guard let password = try DatabasePassword.cString(of: found.bytes) else {
                throw VaultError(.wrongType, "\"\(name)\" has a zero byte, which no password can have.")
            }
            return password
        } catch { throw PostgresError(.malformed, "the password cannot be read: \(error.message)") }
    }

    /// nil if there is a zero among the bytes.
    private static func cString(of bytes: borrowing SecretBytes) throws(VaultError) -> HeldSecret? {
        var text: SecretBytes
        do throws(SealingError) { text = try SecretBytes(zeros: bytes.count + 1) } catch { throw .noGuardedMemory }
        let hasZero = bytes.withUnsafeBytes { bytes in
            text.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
            return bytes.contains(0)
        }
        return hasZero ? nil : HeldSecret(text)
    }
}
