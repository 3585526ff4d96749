import Formats
import LinuxSystem
import SealedFormat
import Vault

/// A database password that is stored in an entry of this machine's own vault. The entry's policy applies to each read,
/// and the access log records it, as for any other reader.
struct DatabasePassword: Sendable {
    private let name: String
    /// The reader's name in the access log and in policies.
    private static let reader = "password-entry"

    init(inEntry name: String) { self.name = name }

    /// Reads the password as a C string. Throws if the entry's attributes do not permit its use for all of `servers`.
    func read(for servers: [VerifiedServer]) throws(PostgresError) -> HeldSecret {
        do throws(VaultError) {
            var location = try VaultLocation.local()
            guard !location.isInDatabase else {
                throw VaultError(.invalid, "This machine's own vault is in a database.")
            }
            location.cache = nil
            let vault = location.vault
            // The caller may hold mutexes of the log in the database. No deadlock is possible: a vault in a file opens
            // no other vault, so no thread that holds the mutexes acquired here waits for the caller's.
            let found = try LockRank.separately { () throws(VaultError) in
                try Keychain(at: location).read(
                    name, for: DatabasePassword.reader,
                    check: { (attributes) throws(VaultError) in
                        try VerifiedServer.check(servers, attributes, of: name, in: vault)
                    }, access: { Access(to: name, by: DatabasePassword.reader) })
            }
            guard let found else { throw VaultError(.absent, "No entry named \"\(name)\" in \(vault).") }
            guard let password = try DatabasePassword.cString(of: found.bytes) else {
                throw VaultError(.wrongType, "\"\(name)\" contains a zero byte, which no password can contain.")
            }
            return password
        } catch { throw PostgresError(.malformed, "the password cannot be read: \(error.message)") }
    }

    /// Returns the bytes as a C string; nil if they contain a zero byte.
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
