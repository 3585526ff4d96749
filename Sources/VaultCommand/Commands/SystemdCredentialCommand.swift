import Formats
import Glibc
import LinuxSystem
import Sealing
import Vault

enum SystemdCredentialCommand: Command {
    static let description = CommandDescription(
        name: .systemdCredential, summary: "give a systemd unit a credential (systemd runs this)",
        details: [
            """
            Answers the one request of a connection on standard input: systemd's for `LoadCredential=ID:SOCKET` of the \
            unit UNIT. The answer is the value of the entry systemd/UNIT/ID, such as systemd/web.service/db-password. \
            No other entry can be asked for. Only root and the user who runs this may ask.
            """,
            """
            The socket is a unit of its own, with `ListenStream=/run/vault.sock`, `SocketMode=0600` and `Accept=yes`. \
            Its service vault@.service has `ExecStart=vault systemd-credential` and `StandardInput=socket`, and names \
            vault and key in its environment.
            """,
            """
            If there is no such entry, or if it cannot be read, nothing is written. systemd then gives the unit an \
            empty credential, and the reason is in the journal of the service.
            """,
        ],
        examples: [.init("vault systemd-credential", "in ExecStart= of the service")],
        exitCodes: [
            .init(.usage, "standard input is no connection of systemd's, or the value is larger than 1 MiB"),
            .init(.notFound, "no such entry"),
            .init(.refused, "another user asks"),
        ])

    /// systemd takes 1 MiB for all credentials of a unit together.
    private static let sizeLimit = 1 << 20

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let request = try request()
        let name = "systemd/\(request.unit)/\(request.identifier)"
        let keychain = try invocation.openVault()
        // Not by `reading`: an attribute of another entry is nothing that was stored for a unit. And no near name: the
        // journal has more readers than the vault.
        guard let value = try invocation.readingEntry(name, from: keychain)?.takeBytes() else {
            throw CommandError.absent(name, near: nil)
        }
        guard value.count <= sizeLimit else {
            throw CommandError.invalid("The value of \"\(name)\" is larger than 1 MiB, which systemd does not take.")
        }
        let error = value.withUnsafeBytes { SystemCall.writeAll($0, to: STDIN_FILENO) }
        guard error == 0 else { throw CommandError.system("The credential could not be sent", error) }
        return .success
    }

    /// Anyone who may connect can bind an address that names a unit, so it counts who has connected.
    private static func request() throws(CommandError) -> SystemdCredential {
        let peer: LocalPeer
        do throws(SystemError) { peer = try LocalPeer(of: STDIN_FILENO) } catch {
            throw .invalid("Standard input is no connection to a socket. systemd starts this command.")
        }
        guard [0, geteuid()].contains(peer.user) else {
            throw .refused("The user \(peer.user) asks for a credential. Set SocketMode=0600 for the socket.")
        }
        guard let request = SystemdCredential(address: peer.address) else {
            throw .invalid("The connection does not say which credential of which unit is asked for.")
        }
        return request
    }
}
