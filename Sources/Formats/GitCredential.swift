package import Sealing

/// A message between git and a credential helper about one credential. It consists of `key=value` lines, up to a blank
/// line or the end. There is no quoting, so a value cannot contain a newline, a carriage return or a zero byte.
package struct GitCredential: Sendable {
    /// The service that the credential is for. git sends a path only if `credential.useHttpPath` is set.
    package var scheme, host, path, username: String?
    package var password: HeldSecret?
    /// The authentication scheme, such as `Bearer`. With `credential`, it replaces the user name and the password.
    package var authtype: String?
    package var credential: HeldSecret?
    /// The expiry in seconds since 1970; nil if the credential does not expire.
    package var expiry: Int64?
    package var refreshToken: HeldSecret?
    /// Whether git asks helpers not to store the credential, because it is useful only for a short time.
    package var isEphemeral = false
    /// The peer's features beyond the first version of the protocol.
    package var capabilities: [String] = []

    package init() {}
}

extension GitCredential {
    /// The size limit for a whole message. git limits each line to 64 KiB.
    package static let sizeLimit = 1 << 20
    private static let lineLimit = 65_534
    private static let newline = UInt8(ascii: "\n")

    /// Returns whether the bytes contain a blank line, which ends the message.
    package static func isComplete(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.first == newline || zip(bytes, bytes.dropFirst()).contains { $0 == newline && $1 == newline }
    }

    /// Parses the lines. Ignores unknown keys, as the protocol requires. If a key is repeated, the last one counts.
    ///
    /// - Throws: ``FormatError``; ``SealingError`` if there is no guarded memory left.
    package init(parsing text: borrowing SecretBytes) throws {
        guard text.count <= GitCredential.sizeLimit else { throw FormatError("it is larger than 1 MiB") }
        try text.withUnsafeBytes { bytes in
            let lines = bytes.split(separator: GitCredential.newline, omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() {
                if line.isEmpty { break }
                try take(UnsafeRawBufferPointer(rebasing: line), number: index + 1)
            }
        }
    }

    private mutating func take(_ line: UnsafeRawBufferPointer, number: Int) throws {
        guard line.count <= GitCredential.lineLimit else { throw FormatError(line: number, "it is too long") }
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
            throw FormatError(line: number, "it has no equals sign")
        }
        guard !line.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\r") }) else {
            throw FormatError(line: number, "it contains a zero byte or a carriage return")
        }
        let value = UnsafeRawBufferPointer(rebasing: line[(equals + 1)...])
        func text() throws -> String {
            guard let text = String(validating: value, as: UTF8.self) else {
                throw FormatError(line: number, "it is not UTF-8")
            }
            return text
        }
        switch String(decoding: line[..<equals], as: UTF8.self) {
        case "protocol": scheme = try text()
        case "host": host = try text()
        case "path": path = try text()
        case "username": username = try text()
        case "password": password = HeldSecret(try SecretBytes(copyOf: value))
        case "authtype": authtype = try text()
        case "credential": credential = HeldSecret(try SecretBytes(copyOf: value))
        // A value that is not a positive number means that the credential never expires, as in git.
        case "password_expiry_utc": expiry = Int64(try text()).flatMap { $0 > 0 ? $0 : nil }
        case "oauth_refresh_token": refreshToken = HeldSecret(try SecretBytes(copyOf: value))
        case "ephemeral": isEphemeral = ["1", "true", "yes", "on"].contains(try text())
        // An empty value clears the capabilities that were listed before it.
        case "capability[]": capabilities = value.isEmpty ? [] : capabilities + [try text()]
        default: break
        }
    }

    package static let authtypeCapability = "authtype"

    /// Writes an answer byte by byte, so that a secret stays in guarded memory. Omits the service, because git would
    /// treat a repeated service as a change.
    ///
    /// - Throws: ``FormatError`` if a value contains a byte that a line cannot contain. The answer is then incomplete.
    package func write(_ put: (UInt8) -> Void) throws(FormatError) {
        // If git has not announced this capability, it ignores `authtype` and `credential`, so no check is needed.
        if authtype != nil { try write("capability[]", GitCredential.authtypeCapability, put) }
        try write("authtype", authtype, put)
        try write("credential", credential, put)
        try write("username", username, put)
        try write("password", password, put)
        try write("password_expiry_utc", expiry.map(String.init), put)
        try write("oauth_refresh_token", refreshToken, put)
    }

    private func write(_ key: String, _ text: String?, _ put: (UInt8) -> Void) throws(FormatError) {
        if let text { try write(key, text.utf8, put) }
    }

    private func write(_ key: String, _ secret: HeldSecret?, _ put: (UInt8) -> Void) throws(FormatError) {
        try secret?.bytes.withUnsafeBytes { (bytes) throws(FormatError) in try write(key, bytes, put) }
    }

    private func write(_ key: String, _ value: some Sequence<UInt8>, _ put: (UInt8) -> Void) throws(FormatError) {
        guard !value.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
            throw FormatError("the \(key) contains a line break or a zero byte")
        }
        key.utf8.forEach(put)
        put(UInt8(ascii: "="))
        value.forEach(put)
        put(GitCredential.newline)
    }
}
