/// A request from systemd, which loads a unit's credential through a socket. systemd encodes the request in the address
/// of its end of the connection: a zero byte and `RANDOM/unit/UNIT/ID` (systemd.exec(5), LoadCredential=).
package struct SystemdCredential: Hashable, Sendable {
    /// The unit's name, such as `postgresql.service`.
    package let unit: String
    package let identifier: String

    /// Parses the request in the address of systemd's end of the connection; returns nil if it contains none.
    package init?(address: [UInt8]) {
        guard address.first == 0 else { return nil }
        let parts = address.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .compactMap { String(validating: $0, as: UTF8.self) }
        guard parts.count == 4, parts[1] == "unit", !parts.contains("") else { return nil }
        unit = parts[2]
        identifier = parts[3]
    }
}
