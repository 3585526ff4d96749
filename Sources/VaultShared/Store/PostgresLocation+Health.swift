import LinuxSystem
package import SealedLog

extension PostgresLocation: StoreReport {
    package var preparation: String { (Schema.creation + [Schema.storage] + Schema.roles).map { $0 + ";\n" }.joined() }

    package var clockDifference: Int64? { serverClock.difference }

    package func findings() throws(LogError) -> [StoreFinding] {
        let (rows, encryption) = try query(
            Statement(
                """
                SELECT current_setting('server_version'), current_setting('fsync'),
                    current_setting('full_page_writes'), current_setting('synchronous_standby_names'),
                    pg_is_in_recovery()::text, has_table_privilege('vault.extent', 'INSERT')::text
                """))
        let values = try translated { () throws(PostgresError) in
            try (0..<6).map { (column) throws(PostgresError) in
                String(decoding: try rows.bytes(0, column), as: UTF8.self)
            }
        }
        let isDurable = values[1] == "on" && values[2] == "on"
        return [
            StoreFinding("server", "PostgreSQL \(values[0]) at \(pool.lastHost?.name ?? path)"),
            StoreFinding(
                "durability",
                isDurable
                    ? "The server flushes each commit."
                    : "The server does not flush commits, so a power loss can undo changes.",
                fix: isDurable ? nil : "Set fsync and full_page_writes to on."),
            StoreFinding(
                "standby",
                values[3].isEmpty
                    ? "Commits do not wait for a standby. If the server's disk fails, recent changes may be "
                        + "lost. Each machine that has seen them detects the loss."
                    : "Commits wait for \(values[3])."),
            encryption.finding,
            StoreFinding(
                "rights",
                values[4] == "true"
                    ? "The server is a standby, so the vault is read-only."
                    : values[5] == "true" ? "This role may read and write." : "This role may only read."),
        ]
    }

    /// Runs a statement and reads the server's clock, in one round trip.
    private func query(_ statement: Statement) throws(LogError) -> (Rows, PostgresConnection.Encryption) {
        let deadline = Deadline(after: timeout)
        let (rows, encryption) = try attempt(until: deadline) { () throws(PostgresError) in
            try pool.withConnection(until: deadline) { (connection) throws(PostgresError) in
                (try connection.flight([statement, .head(of: name)], until: deadline).rows, connection.encryption)
            }
        }
        serverClock.note(rows[1], Statement.clockColumn)
        return (rows[0], encryption)
    }

    package var keptCopy: KeptCopy? {
        guard let mirror, let path = mirror.path, let time = mirror.contact else { return nil }
        return KeptCopy(path: path, missing: mirror.missingCount, time: time)
    }
}

extension PostgresConnection.Encryption {
    fileprivate var finding: StoreFinding {
        let advice = "Use sslmode=verify-full."
        return switch self {
        case .certificate: StoreFinding("encryption", "TLS; the server has proved its identity by its certificate")
        case .ticket: StoreFinding("encryption", "Kerberos; the server has proved its identity by its ticket")
        case .local(let hasTLS):
            StoreFinding("encryption", "\(hasTLS ? "TLS" : "none"): the server is on this machine")
        case .unproved(let mode):
            StoreFinding(
                "encryption", "TLS, but the server has not proved its identity (sslmode=\(mode)).", fix: advice)
        case .none:
            StoreFinding(
                "encryption",
                "none; others on the network can see sizes and times, and impersonate the server.", fix: advice)
        }
    }
}
