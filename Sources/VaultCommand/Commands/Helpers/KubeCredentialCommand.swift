import Formats
import FoundationEssentials
import Glibc
import Vault

enum KubeCredentialCommand: Command {
    /// The part of kubectl's request that this command needs.
    private struct Request: Decodable { let apiVersion: String }

    private static let variable = "KUBERNETES_EXEC_INFO"
    private static let versions = ["v1", "v1beta1"].map { "client.authentication.k8s.io/\($0)" }

    static let description = CommandDescription(
        name: .kubeCredential, section: .helpers, changesNothing: true,
        summary: "give kubectl its token or certificate (kubectl runs this)",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The entry with the token.")],
        details: """
            Serves users[].user.exec in a kubeconfig, which kubectl and other clients of Kubernetes run. `vault setup \
            kube` writes that setting.

            The value is a bearer token. A client certificate and its key, both in PEM, are the entries \
            NAME.certificate and NAME.key; NAME itself is then optional. kubectl requests them again when one of them \
            expires.
            """,
        exitCodes: [
            .init(.other, "kubectl did not start this command, or uses another version of the protocol"),
            .init(.usage, "a certificate without its key, or a key without its certificate"),
            .init(.notFound, "no such name, or it has expired"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let version = try requestedVersion()
        let keychain = try invocation.openVault()
        let name = invocation.name
        let fields = ["certificate", "key"]
        let token = try invocation.held(name, from: keychain)
        let certificate = try fields.map { try invocation.held(field: $0, of: name, from: keychain) }
        guard token != nil || certificate.contains(where: { $0 != nil }) else { throw keychain.absent(name) }
        guard (certificate[0] == nil) == (certificate[1] == nil) else {
            let names = fields.map { "\"\(Login.name(of: $0, in: name))\"" }
            throw CommandError.invalid("A client certificate needs both \(names[0]) and \(names[1]).")
        }
        let names = [name] + fields.compactMap { Login.entryName(of: $0, in: name) }
        let expiry = try names.compactMap { try keychain.item($0)?.expires }.min()
        try StandardOutput.write(
            .object([
                "apiVersion": .text(version), "kind": .text("ExecCredential"),
                "status": .object([
                    "token": token.map(SecretJSON.secret),
                    "clientCertificateData": certificate[0].map(SecretJSON.secret),
                    "clientKeyData": certificate[1].map(SecretJSON.secret),
                    "expirationTimestamp": expiry.map { .text(Timestamp.text($0)) },
                ]),
            ]))
        return .success
    }

    /// Returns the protocol version that kubectl requests, which the answer must repeat.
    private static func requestedVersion() throws(CommandError) -> String {
        guard let pointer = getenv(variable) else {
            throw CommandError.other(
                "\(variable) is not set. kubectl sets it when it runs this command; see `vault setup kube`.")
        }
        let text = Data(String(cString: pointer).utf8)
        guard let version = (try? JSONDecoder().decode(Request.self, from: text))?.apiVersion,
            versions.contains(version)
        else {
            throw CommandError.other(
                "\(variable) requests none of the supported versions \(versions.joined(separator: ", ")).")
        }
        return version
    }
}
