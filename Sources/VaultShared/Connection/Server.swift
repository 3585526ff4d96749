private import Glibc
import LinuxSystem

/// A server, and libpq's parameters for it. They come from a URL, from libpq's environment variables and from a service
/// file (PostgreSQL's documentation, 34.15, 34.17). All affect whether the server must prove its identity.
struct Server: Sendable {
    /// The parameters of the connection. They are fixed, so a later change to a service file has no effect.
    var parameters: ConnectionParameters
    /// Whether the server is on this machine, at a socket or a loopback address. A host name does not count, not even
    /// localhost, because another party may control name resolution.
    let isLocal: Bool

    /// The value of libpq's parameter `sslmode`.
    var mode: String { parameters["sslmode"] ?? "" }
    /// Advice for a refused login to `localhost`, which does not count as this machine because it is a host name.
    var advice: String? {
        guard mode == Server.proof, parameters["host"] == "localhost" else { return nil }
        return "A server specified by name needs a certificate (sslmode=verify-full). For a server on this "
            + "machine, use 127.0.0.1 or the folder that contains its socket"
    }

    /// Whether the server proves its identity before it is used, either by its certificate or by being on this machine.
    var provesItself: Bool { isLocal || mode == Server.proof }

    static let proof = "verify-full"
    /// libpq's default `sslmode`.
    private static let libpqMode = "prefer"
    /// The parameters whose values come from libpq, which combines the URL, the environment and the service file.
    private static let keywords = ["host", "hostaddr", "port", "dbname", "user", "sslmode", "sslrootcert"]

    /// Returns the servers that libpq would try, in libpq's order.
    ///
    /// - Parameter given: the parameters of a URL.
    static func found(by given: ConnectionParameters) throws(PostgresError) -> [Server] {
        let found = try ConnectionParameters.found(by: given)
        var all = given
        for keyword in keywords { if let value = found[keyword], !value.isEmpty { all[keyword] = value } }
        let count = max(1, ["host", "hostaddr"].map { ConnectionParameters.list(all[$0]).count }.max() ?? 1)
        if count > 1 { all["target_session_attrs"] = given["target_session_attrs"] ?? "read-write" }
        let givenMode = given["sslmode"] ?? modeOfService(given, found)
        return (0..<count).map { Server(all.ofHost($0, among: count), givenMode) }
    }

    /// Returns the `sslmode` of the URL's service. Ignores PGSSLMODE, which may be meant for another database.
    private static func modeOfService(_ given: ConnectionParameters, _ found: ConnectionParameters) -> String? {
        guard given["service"] != nil, let mode = found["sslmode"], mode != libpqMode else { return nil }
        return getenv("PGSSLMODE").map { String(cString: $0) } == mode ? nil : mode
    }

    private init(_ parameters: ConnectionParameters, _ givenMode: String?) {
        self.parameters = parameters
        isLocal = [parameters["host"], parameters["hostaddr"]].allSatisfy { host in
            host.map { $0.isEmpty || ConnectionParameters.isSocket($0) || ConnectionParameters.isLoopback($0) } ?? true
        }
        self.parameters["sslmode"] = givenMode ?? (isLocal ? parameters["sslmode"] : Server.proof)
        if mode.utf8.starts(with: "verify".utf8) {
            self.parameters["sslrootcert"] = parameters["sslrootcert"] ?? Server.rootFile
        }
    }

    /// The path of the trusted certificates: the user's file if it is readable and trustworthy, otherwise the system's
    /// file; nil only if neither is readable. Without a path, libpq would use even an untrustworthy user's file.
    private static var rootFile: String? {
        let home = getenv("HOME").map { String(cString: $0) } ?? ""
        let own = "\(home)/.postgresql/root.crt"
        let system = "/etc/ssl/certs/ca-certificates.crt"
        if access(own, R_OK) == 0 {
            let files = PosixFileSystem()
            let isBelieved = [own, own.parentFolder, home].allSatisfy { path in
                (try? files.status(at: path))?.isOwnedHere ?? false
            }
            return isBelieved ? own : system
        }
        return access(system, R_OK) == 0 ? system : nil
    }
}

extension ConnectionParameters {
    /// Returns the parameters of the host at `index`. Names, addresses and ports may be comma-separated lists.
    fileprivate func ofHost(_ index: Int, among count: Int) -> ConnectionParameters {
        guard count > 1 else { return self }
        var parameters = self
        for keyword in ["host", "hostaddr", "port"] where self[keyword] != nil {
            let values = ConnectionParameters.list(self[keyword])
            parameters[keyword] = values.count == count ? values[index] : values.first ?? ""
        }
        return parameters
    }

    /// Returns whether a host is a Unix socket's folder or an abstract socket's name (PostgreSQL 34.1.2, "host").
    fileprivate static func isSocket(_ host: String) -> Bool {
        host.utf8.first == UInt8(ascii: "/") || host.utf8.first == UInt8(ascii: "@")
    }
}
