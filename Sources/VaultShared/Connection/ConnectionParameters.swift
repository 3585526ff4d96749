import CPostgres
import Formats
private import Glibc
import Sealing

/// The parameters of a connection: libpq's keywords (PostgreSQL's documentation, 34.1.2) and their values.
struct ConnectionParameters: Sendable {
    private var values: [String: String] = [:]

    subscript(keyword: String) -> String? {
        get { values[keyword] }
        set { values[keyword] = newValue }
    }

    typealias List = UnsafePointer<UnsafePointer<CChar>?>?

    /// Passes the parameters to `body` in the form that libpq requires: two null-terminated lists of C strings.
    ///
    /// - Parameter password: a C string, which is not copied out of guarded memory.
    func withPointers<Result>(
        and password: HeldSecret? = nil, _ body: (_ keywords: List, _ values: List) -> Result
    ) -> Result {
        guard let password else { return withLists(and: nil, body) }
        return password.bytes.withUnsafeBytes { bytes in
            withLists(and: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), body)
        }
    }

    private func withLists<Result>(
        and password: UnsafePointer<CChar>?, _ body: (_ keywords: List, _ values: List) -> Result
    ) -> Result {
        Self.withList(values.keys + (password == nil ? [] : ["password"]), and: nil) { keywords in
            Self.withList(Array(values.values), and: password) { body(keywords, $0) }
        }
    }

    private static func withList<Result>(
        _ texts: [String], and last: UnsafePointer<CChar>?, _ body: (List) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { UnsafePointer($0) } + [last, nil]
        return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
    }

    /// Splits a comma-separated value that has one item per host.
    static func list(_ text: String?) -> [String] {
        text?.split(separator: ",", omittingEmptySubsequences: false).map { String($0) } ?? []
    }

    /// The hosts, each with its port if that differs from PostgreSQL's default port.
    var addresses: [String] {
        let hosts = Self.list(self["host"] ?? self["hostaddr"])
        let ports = Self.list(self["port"])
        return hosts.enumerated().map { index, host in
            let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
            return port.isEmpty || port == "5432" ? host : "\(host):\(port)"
        }
    }

    /// Returns whether `host` is a loopback address (127.0.0.0/8 or ::1). A name such as localhost is not an address.
    static func isLoopback(_ host: String) -> Bool {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        guard inet_pton(AF_INET6, host, &six) == 1 else { return false }
        return withUnsafeBytes(of: six) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }

    /// An invalid value of `target_session_attrs`. It makes libpq collect all parameters but not connect.
    private static let noServer = "none-is-asked"

    /// Returns all parameters that libpq would use to connect: the given ones, and those that it reads from environment
    /// variables and a service file. Omits passwords.
    static func found(by given: ConnectionParameters) throws(PostgresError) -> ConnectionParameters {
        var parameters = given
        parameters["target_session_attrs"] = noServer
        guard let handle = parameters.withPointers({ PQconnectStartParams($0, $1, 0) }) else {
            throw PostgresError(.notConnected, "no memory")
        }
        defer { PQfinish(handle) }
        let failure = String(cString: PQerrorMessage(handle))
        guard failure.contains(noServer), let options = PQconninfo(handle) else {
            throw PostgresError(.loginRefused, failure)
        }
        defer { PQconninfoFree(options) }
        var found = ConnectionParameters()
        var option = options
        while let keyword = option.pointee.keyword.map({ String(cString: $0) }) {
            if let value = option.pointee.val {
                if keyword == "password" || keyword == "sslpassword" {
                    explicit_bzero(value, strlen(value))
                } else {
                    found[keyword] = String(cString: value)
                }
            }
            option += 1
        }
        return found
    }
}
