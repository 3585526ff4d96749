import LinuxSystem
import TestSupport
import Testing
import Vault
import VaultTesting

@testable import VaultShared

/// Servers of a test's own: a standby that does not answer, and a former primary.
@Suite("Servers that follow each other", .needsServer, .timeLimit(.minutes(10)))
struct DatabaseFailoverTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func location(_ url: String) -> VaultLocation {
        var location = VaultLocation(vault: url, keyFile: folder.file("key"), rollbackMemory: folder.file("state"))
        location.databases = .postgreSQL
        return location
    }

    /// A commit whose wait for the standby is cancelled is a success with a warning, and would be lost with the
    /// primary.
    @Test func aChangeIsStoredOnceTheStandbyHasIt() throws {
        let cluster = try Cluster()
        try Keychain(at: location(cluster.url("team")), creatingIfAbsent: true).set("a", to: "1")
        let server = try Administrator(of: cluster)
        _ = try server.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        _ = try server.run("SELECT pg_reload_conf()")
        while try server.run("SELECT 1 WHERE current_setting('synchronous_standby_names') = ''") > 0 {}
        // A session that begins now has the setting. An open one may load it only after the change.
        var location = location(cluster.url("team"))
        location.rollbackMemory = folder.file("./state")
        let keychain = try Keychain(at: location)

        let isStored = Flag()
        let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        try onThreads(2) { thread in
            if thread == 0 {
                try keychain.set("a", to: "2")
                return isStored.set()
            }
            // The wait for the record is cancelled; that for the proof follows.
            while try server.run("SELECT pg_cancel_backend(pid) \(waiting)") == 0, !isStored.isSet {}
            while try server.run("SELECT 1 \(waiting) AND query LIKE '%pg_logical_emit_message%'") == 0, !isStored.isSet
            {}
            #expect(!isStored.isSet)
            _ = try server.run("ALTER SYSTEM RESET synchronous_standby_names")
            _ = try server.run("SELECT pg_reload_conf()")
        }
        #expect(isStored.isSet)
        #expect(try keychain.unsafeString("a") == "2")
    }

    /// As after a crash of the server: the lock is gone, and this process does not know it yet.
    @Test func aLockThatWasLostIsNoAlarm() throws {
        let cluster = try Cluster()
        let server = try Administrator(of: cluster)
        let files = FaultyFileSystem()
        let keychain = try Keychain(
            at: location(cluster.url("team")), creatingIfAbsent: true, failures: FailureLog(), in: files)
        try keychain.set("a", to: "1")
        // One process has one log of a vault, unless the memory has another name.
        var location = location(cluster.url("team"))
        location.rollbackMemory = folder.file("./state")
        let other = try Keychain(at: location)
        let isLost = server.endHolder(watching: files) {
            #expect(throws: Never.self) { try other.set("a", to: "2") }
        }
        try keychain.set("b", to: "3")
        #expect(isLost.isSet)
        #expect(try keychain.unsafeString("a") == "2")
        #expect(try other.unsafeString("b") == "3")
    }

    /// A thread reads on the connection of another one's change while that waits.
    @Test func aReadingBesideAChangeOutlastsItsConnection() throws {
        let cluster = try Cluster()
        let server = try Administrator(of: cluster)
        let files = FaultyFileSystem()
        var location = location(cluster.url("team"))
        location.cache = nil
        let keychain = try Keychain(at: location, creatingIfAbsent: true, failures: FailureLog(), in: files)
        let values = (0..<3).map { String(repeating: "\($0)", count: 100_000) }
        for (number, value) in values.enumerated() { try keychain.set("value \(number)", to: value) }
        let isLost = server.endHolder(watching: files) {
            for (number, value) in values.enumerated() {
                #expect(throws: Never.self) { try #expect(keychain.unsafeString("value \(number)") == value) }
            }
        }
        try keychain.set("b", to: "3")
        #expect(isLost.isSet)
        #expect(try keychain.unsafeString("b") == "3")
    }

    /// It was started again, with what it had.
    @Test func aFormerPrimaryIsPassedOver() throws {
        let former = try Cluster()
        let primary = try Cluster()
        let keychain = try Keychain(at: location(primary.url("team")), creatingIfAbsent: true)
        try keychain.set("a", to: "before")
        try keychain.copies.backUp(to: former.url("team"))
        try keychain.set("a", to: "after")
        let hosts = [former, primary].map { "\($0.socketFolder.replacing("/", with: "%2F")):\($0.port)" }
        let both = "postgresql://vault@\(hosts.joined(separator: ","))/postgres#team"
        let opened = try Keychain(at: location(both))
        #expect(try opened.unsafeString("a") == "after")
        try opened.set("b", to: "late")
        #expect(try keychain.unsafeString("b") == "late")
        // Without a memory, it is what it shows.
        var alone = location(former.url("team"))
        alone.rollbackMemory = folder.file("none")
        #expect(try Keychain(at: alone).unsafeString("a") == "before")
    }
}

/// Somebody who may see and end the sessions of a server.
private struct Administrator: Sendable {
    /// The sessions that hold a vault's lock.
    private static let holders = "FROM pg_stat_activity WHERE state = 'idle in transaction'"

    private let pool: ConnectionPool

    init(of cluster: Cluster) throws {
        let url = try DatabaseURL(cluster.url("any"))
        pool = ConnectionPool(url.parameters)
    }

    /// Ends the session that holds a vault's lock once its process reads what it remembers, and then runs `body`.
    ///
    /// - Returns: a flag that is set then.
    func endHolder(watching files: FaultyFileSystem, _ body: @escaping @Sendable () -> Void) -> Flag {
        let isEnded = Flag()
        files.watch(.read) { call in
            guard call.path.hasSuffix(".seen"), !isEnded.isSet,
                (try? run("SELECT pg_terminate_backend(pid) \(Administrator.holders)")) ?? 0 > 0
            else { return }
            isEnded.set()
            body()
        }
        return isEnded
    }

    /// Returns how many rows a statement has.
    func run(_ text: String) throws(PostgresError) -> Int {
        let deadline = Deadline(after: .seconds(60))
        return try pool.withConnection(until: deadline) { (connection) throws(PostgresError) in
            try connection.flight([Statement(text)], until: deadline).rows[0].count
        }
    }
}
