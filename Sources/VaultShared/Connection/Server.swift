private import Glibc
import LinuxSystem

/// A server as libpq would connect to it: what a URL gives, and what libpq's variables and a service file add (34.15,
/// 34.17). Whether it has to prove who it is, is decided by that, and not by the URL alone.
struct Server: Sendable {
    /// What to connect with: what was decided on, whatever a service file says by then.
    var parameters: ConnectionParameters
    /// Whether it is on this machine: a socket, or an address of this machine's own. A name is none, even if it is
    /// localhost: what it leads to is for others to say.
    let isLocal: Bool

    /// libpq's `sslmode`.
    var mode: String { parameters["sslmode"] ?? "" }
    /// What a refused login is told with: that a name leads to this machine is for others to say.
    var advice: String? {
        guard mode == Server.proof, parameters["host"] == "localhost" else { return nil }
        return "A host's name has to prove itself by a certificate (sslmode=verify-full). For a server on this "
            + "machine, write 127.0.0.1 or the folder of its socket"
    }

    /// Whether it is connected to only if it proves who it is: by its certificate, or by being here.
    var provesItself: Bool { isLocal || mode == Server.proof }

    static let proof = "verify-full"
    /// What libpq takes if nobody says otherwise.
    private static let libpqMode = "prefer"
    /// What is decided on.
    private static let keywords = ["host", "hostaddr", "port", "dbname", "user", "sslmode", "sslrootcert"]

    /// Finds the servers that libpq would try, one after the other.
    ///
    /// - Parameter given: what a URL gives.
    static func found(by given: ConnectionParameters) throws(PostgresError) -> [Server] {
        let found = try ConnectionParameters.found(by: given)
        var all = given
        for keyword in keywords {
            if let value = found[keyword], !value.isEmpty { all[keyword] = value }
        }
        let count = max(1, ["host", "hostaddr"].map { ConnectionParameters.list(all[$0]).count }.max() ?? 1)
        if count > 1 { all["target_session_attrs"] = given["target_session_attrs"] ?? "read-write" }
        let saidMode = given["sslmode"] ?? modeOfService(given, found)
        return (0..<count).map { Server(all.ofHost($0, among: count), saidMode) }
    }

    /// Returns what the service that a URL names says. A variable is none of the URL's: it may be for another database.
    private static func modeOfService(_ given: ConnectionParameters, _ found: ConnectionParameters) -> String? {
        guard given["service"] != nil, let mode = found["sslmode"], mode != libpqMode else { return nil }
        return getenv("PGSSLMODE").map { String(cString: $0) } == mode ? nil : mode
    }

    private init(_ parameters: ConnectionParameters, _ saidMode: String?) {
        self.parameters = parameters
        isLocal = [parameters["host"], parameters["hostaddr"]].allSatisfy { host in
            host.map { $0.isEmpty || ConnectionParameters.isSocket($0) || ConnectionParameters.isLoopback($0) } ?? true
        }
        self.parameters["sslmode"] = saidMode ?? (isLocal ? parameters["sslmode"] : Server.proof)
        if mode.utf8.starts(with: "verify".utf8) {
            self.parameters["sslrootcert"] = parameters["sslrootcert"] ?? Server.rootFile
        }
    }

    /// The certificates that are trusted: those of a file that the user has, if it is to be believed, or else the
    /// system's; nil leaves it to libpq, which would take the former.
    private static var rootFile: String? {
        let home = getenv("HOME").map { String(cString: $0) } ?? ""
        let (own, system) = ("\(home)/.postgresql/root.crt", "/etc/ssl/certs/ca-certificates.crt")
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
    /// Returns those of one of several hosts, whose names, addresses and ports are in lists.
    fileprivate func ofHost(_ index: Int, among count: Int) -> ConnectionParameters {
        guard count > 1 else { return self }
        var parameters = self
        for keyword in ["host", "hostaddr", "port"] where self[keyword] != nil {
            let values = ConnectionParameters.list(self[keyword])
            parameters[keyword] = values.count == count ? values[index] : values.first ?? ""
        }
        return parameters
    }

    /// Whether a host is the path of a Unix socket's folder, or the name of an abstract one (34.1.2, "host").
    fileprivate static func isSocket(_ host: String) -> Bool {
        host.utf8.first == UInt8(ascii: "/") || host.utf8.first == UInt8(ascii: "@")
    }
}
