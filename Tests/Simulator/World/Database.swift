import CPostgres
import CSimulator
import TestSupport

/// A real PostgreSQL server for the vault of a simulation, as its administrator sees it.
///
/// Sendable although unchecked: see ``Scheduler``.
final class Database: @unchecked Sendable {
    private let cluster: Cluster
    private var connection: OpaquePointer?

    /// The tables of a vault, or a copy of them.
    enum Tables {
        case vault, backUp, former, dump
        case image(Image.Kind)
        case foreign(Image.Kind)

        var schema: String {
            switch self {
            case .image(let kind): "image_\(kind)"
            case .foreign(let kind): "foreign_\(kind)"
            default: "\(self)".lowercased()
            }
        }
    }

    init() throws {
        // What a crash of the server leaves is in the system's memory. Its own upkeep would lock tables at times.
        cluster = try Cluster("fsync=off", "autovacuum=off")
        connect()
    }

    deinit { PQfinish(connection) }

    var url: String { cluster.url("team") }

    private func connect() {
        let options = "-c lock_timeout=200ms -c client_min_messages=warning"
        connection = PQconnectdb(
            "host=\(cluster.socketFolder) port=\(cluster.port) user=vault dbname=postgres options='\(options)'")
    }

    /// Ends the server at once, and all connections with it, and starts it again.
    func crash() {
        outside {
            PQfinish(connection)
            do { try cluster.crash() } catch { fatalError("the server does not start again: \(error)") }
            connect()
        }
    }

    // MARK: Tables

    private static let tables = ["head", "generation", "extent"]

    /// Removes a vault.
    func clear() { run("DROP SCHEMA IF EXISTS vault CASCADE") }

    /// Makes a copy of the tables, with what makes their rows unique. Returns false if somebody else has locked them.
    @discardableResult
    func copy(_ source: Tables = .vault, to target: Tables) -> Bool {
        let source = source.schema
        let target = target.schema
        let tables = Database.tables.map {
            """
            CREATE TABLE \(target).\($0) (LIKE \(source).\($0) INCLUDING ALL);
            INSERT INTO \(target).\($0) SELECT * FROM \(source).\($0);
            """
        }
        return tryToRun("DROP SCHEMA IF EXISTS \(target) CASCADE; CREATE SCHEMA \(target); \(tables.joined())") != nil
    }

    /// Exchanges the rows of the vault. Returns false if somebody else has locked them.
    func exchange(for source: Tables) -> Bool {
        let tables = Database.tables.map {
            "DELETE FROM vault.\($0); INSERT INTO vault.\($0) SELECT * FROM \(source.schema).\($0);"
        }
        return tryToRun("BEGIN; \(tables.joined()) COMMIT") != nil
    }

    var hasVault: Bool {
        run("SELECT to_regclass('vault.head') IS NOT NULL")[0][0] == "t" && !run("SELECT 1 FROM vault.head").isEmpty
    }

    // MARK: At work

    /// What the server's processes are doing.
    struct Load {
        /// That serve a connection.
        let processes: Int
        /// That wait for a lock.
        let blocked: Int
        /// That carry out something.
        let active: Int
    }

    var load: Load {
        let row = run(
            """
            SELECT count(*), count(*) FILTER (WHERE is_blocked),
                count(*) FILTER (WHERE state = 'active' AND NOT is_blocked AND wait_event IS DISTINCT FROM 'ClientWrite')
            FROM (
                SELECT state, wait_event, pid IN (SELECT pid FROM pg_locks WHERE NOT granted) AS is_blocked
                FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) processes
            """)[0].map { Int($0) ?? 0 }
        return Load(processes: row[0], blocked: row[1], active: row[2])
    }

    // MARK: Statements

    @discardableResult
    func run(_ statements: String) -> [[String]] {
        guard let rows = tryToRun(statements) else {
            fatalError("\(String(cString: PQerrorMessage(connection))) in: \(statements)")
        }
        return rows
    }

    /// Returns the rows of the last statement; nil if one failed.
    private func tryToRun(_ statements: String) -> [[String]]? {
        outside {
            let result = PQexec(connection, statements)
            defer { PQclear(result) }
            guard [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(PQresultStatus(result)) else {
                if PQtransactionStatus(connection) == PQTRANS_INERROR { PQclear(PQexec(connection, "ROLLBACK")) }
                return nil
            }
            return (0..<PQntuples(result)).map { row in
                (0..<PQnfields(result)).map { column in String(cString: PQgetvalue(result, row, column)) }
            }
        }
    }

    private func outside<Result>(_ body: () -> Result) -> Result {
        let isInside = vault_simulation_enter(0)
        defer { vault_simulation_enter(isInside) }
        return body()
    }
}
