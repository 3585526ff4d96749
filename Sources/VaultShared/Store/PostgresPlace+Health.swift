package import SealedLog

extension PostgresPlace {
    /// Looks at how the server keeps its promises.
    package func findings() throws(LogError) -> [PlaceFinding] {
        let rows = try flight([
            Statement(
                """
                SELECT current_setting('server_version'), current_setting('fsync'),
                    current_setting('full_page_writes'), current_setting('synchronous_standby_names'),
                    pg_is_in_recovery()::text, has_table_privilege('vault.extent', 'INSERT')::text,
                    coalesce(
                        (SELECT 'TLS' FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl),
                        (SELECT 'Kerberos' FROM pg_stat_gssapi WHERE pid = pg_backend_pid() AND encrypted),
                        CASE WHEN inet_client_addr() IS NULL THEN 'none: a Unix socket' ELSE '' END)
                """)
        ])
        let values = try translated { () throws(PostgresError) in
            try (0..<7).map { (column) throws(PostgresError) in
                String(decoding: try rows[0].bytes(0, column), as: UTF8.self)
            }
        }
        let isDurable = values[1] == "on" && values[2] == "on"
        return [
            PlaceFinding("server", "PostgreSQL \(values[0]) at \(pool.lastHost ?? location)"),
            PlaceFinding(
                "durability",
                isDurable
                    ? "The server flushes what it commits."
                    : "The server does not flush what it commits: a power loss takes changes back.",
                fix: isDurable ? nil : "Set fsync and full_page_writes to on."),
            PlaceFinding(
                "standby",
                values[3].isEmpty
                    ? "No standby is waited for: a lost disk takes changes back, which every machine then notices."
                    : "Commits wait for \(values[3])."),
            PlaceFinding(
                "encryption", values[6].isEmpty ? "none: others on the way see sizes and times" : values[6],
                fix: values[6].isEmpty ? "Use sslmode=verify-full." : nil),
            PlaceFinding(
                "rights",
                values[4] == "true"
                    ? "The server is a standby: the vault can only be read."
                    : values[5] == "true" ? "This role may read and write." : "This role may only read."),
        ]
    }

    package var keptCopy: KeptCopy? {
        guard let mirror, let path = mirror.path, let time = mirror.contact else { return nil }
        return KeptCopy(path: path, isComplete: mirror.completePath != nil, time: time)
    }
}
