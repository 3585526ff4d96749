import Formats
import Glibc
import LinuxSystem
import Vault

enum SystemdCredentialCommand: Command {
    static let description = CommandDescription(
        name: .systemdCredential, section: .helpers, changesNothing: true,
        summary: "give a systemd unit a credential (systemd runs this)",
        details: """
            Answers one request of systemd on standard input, which is a socket. A unit UNIT makes the request with \
            `LoadCredential=ID:SOCKET`. The answer is the value of the entry systemd/UNIT/ID, such as \
            systemd/web.service/db-password. Other entries cannot be requested. Only root and the user who runs this \
            command may request a credential.

            The socket is a separate unit with `ListenStream=/run/vault.sock`, `SocketMode=0600` and `Accept=yes`. Its \
            service vault@.service has `ExecStart=vault systemd-credential` and `StandardInput=socket`, and names the \
            vault and key in its environment.

            If the entry does not exist or cannot be read, nothing is written. systemd then gives the unit an empty \
            credential, and the journal of the service shows the reason.
            """,
        examples: [.init("vault systemd-credential", "answer a request, in ExecStart= of the service")],
        exitCodes: [
            .init(.usage, "standard input is not a connection from systemd, or the value is larger than 1 MiB"),
            .init(.notFound, "no such entry"),
            .init(.refused, "another user made the request"),
        ])

    /// The maximum size in bytes. systemd accepts at most 1 MiB for all credentials of a unit together.
    private static let sizeLimit = 1 << 20

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let request = try request()
        let name = "systemd/\(request.unit)/\(request.identifier)"
        let keychain = try invocation.openVault()
        // `reading` could also return a login's attribute, which is not meant for a unit. The error suggests no similar
        // name, because more users may be able to read the journal than the vault.
        guard let value = try invocation.readingEntry(name, from: keychain)?.takeBytes() else {
            throw CommandError.absent(name, near: nil)
        }
        guard value.count <= sizeLimit else {
            throw CommandError.invalid("The value of \"\(name)\" is larger than 1 MiB, which systemd does not accept.")
        }
        let error = value.withUnsafeBytes { SystemCall.writeAll($0, to: STDIN_FILENO) }
        guard error == 0 else { throw CommandError.system("The credential could not be sent", error) }
        return .success
    }

    /// Reads the request from the peer's address, which any process could forge, so the peer's user ID is checked.
    private static func request() throws(CommandError) -> SystemdCredential {
        let peer: LocalPeer
        do throws(SystemError) { peer = try LocalPeer(of: STDIN_FILENO) } catch {
            throw .invalid("Standard input is not a socket connection. This command is run by systemd.")
        }
        guard [0, geteuid()].contains(peer.user) else {
            throw .refused("User \(peer.user) requested a credential. Set SocketMode=0600 for the socket.")
        }
        guard let request = SystemdCredential(address: peer.address) else {
            throw .invalid("The connection does not name a credential and a unit.")
        }
        return request
    }
}
