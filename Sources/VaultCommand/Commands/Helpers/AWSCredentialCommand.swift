import Formats
import FoundationEssentials
import Vault

enum AWSCredentialCommand: Command {
    static let description = CommandDescription(
        name: .awsCredential, section: .helpers, changesNothing: true,
        summary: "give AWS tools their keys (they run this)",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The entry with the secret access key.")],
        details: """
            Serves `credential_process` in ~/.aws/config, which the AWS command line and SDKs run. `vault setup aws` \
            writes that setting.

            The value is the secret access key, and the attribute access-key-id (or username) is the id of the access \
            key. A session token is an entry of its own, NAME.session-token. Alternatively, the value is a JSON object \
            with AccessKeyId, SecretAccessKey and optionally SessionToken, Expiration and AccountId. AWS tools request \
            the keys again when the entry expires.
            """,
        examples: [.init("vault aws-credential aws/work", "show what AWS tools receive")],
        exitCodes: [
            .init(.usage, "the entry has no access key id"), .init(.notFound, "no such name, or it has expired"),
        ])

    private static let tokenField = "session-token"

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        let name = invocation.name
        guard let stored = try invocation.reading(name, from: keychain) else { throw keychain.absent(name) }
        let value = try ValueText.shown(stored, of: name)
        let item = try keychain.item(name)
        let tokenName = Login.entryName(of: tokenField, in: name)
        let tokenExpires = try tokenName.flatMap { try keychain.item($0)?.expires }
        let expires = [item?.expires, tokenExpires].compactMap(\.self).min()
        let expiry = expires.map { SecretJSON.text(Timestamp.text($0)) }
        if SecretJSON.beginsObject(value) {
            try StandardOutput.write(answer(document: value, of: name, expiry))
            return .success
        }
        guard let id = item?.attributes["access-key-id"] ?? item?.attributes[Login.AttributeKey.username] else {
            throw CommandError.invalid("\"\(name)\" has no access key id. Store it as the attribute `access-key-id`.")
        }
        let token = try invocation.held(field: tokenField, of: name, from: keychain)
        // A temporary key (ASIA...) is useless without its session token, but AWS tools would keep using it.
        guard token != nil || !id.hasPrefix("ASIA") else { throw keychain.absent(Login.name(of: tokenField, in: name)) }
        try StandardOutput.write(
            .object([
                "Version": .number(1), "AccessKeyId": .text(id), "SecretAccessKey": .secret(HeldSecret(value)),
                "SessionToken": token.map(SecretJSON.secret), "Expiration": expiry,
            ]))
        return .success
    }

    /// Returns the JSON to print for an entry with a JSON object. Its strings are in ordinary memory during the call.
    private static func answer(
        document: borrowing SecretBytes, of name: String, _ expiry: SecretJSON?
    ) throws -> SecretJSON {
        guard case .dictionary(let members)? = try? StoredValue(json: document.unsafeArray()) else {
            throw CommandError.invalid("The value of \"\(name)\" begins with {, but is not a JSON object.")
        }
        func text(_ key: String) -> SecretJSON? {
            guard case .string(let text)? = members[key] else { return nil }
            return .text(text)
        }
        guard let id = text("AccessKeyId"), let key = text("SecretAccessKey") else {
            throw CommandError.invalid("The JSON object \"\(name)\" needs an AccessKeyId and a SecretAccessKey.")
        }
        return .object([
            "Version": .number(1), "AccessKeyId": id, "SecretAccessKey": key, "SessionToken": text("SessionToken"),
            "Expiration": text("Expiration") ?? expiry, "AccountId": text("AccountId"),
        ])
    }
}
