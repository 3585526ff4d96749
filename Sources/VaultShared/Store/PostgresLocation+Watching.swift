import LinuxSystem
package import SealedLog

extension PostgresLocation {
    /// Listens for writers' notifications, and also polls the log's end every few seconds. If the connection goes
    /// through a pooler or the server cannot notify, it only polls, at shorter intervals.
    package func watch(onChange: @escaping @Sendable () -> Void) throws(LogError) -> any AnyObject & Sendable {
        let watch = DatabaseWatch(self, onChange)
        do { try startDetachedThread(named: "vault-watch", watch.loop.run) } catch { throw LogError(error, path) }
        return watch
    }

    package func namedLock(_ number: Int64) throws(LogError) -> any NamedLock {
        RowLock(self, number: UInt64(number) ^ lockKey)
    }
}

/// A lock in the form of a row that a transaction inserts but never commits. Other transactions cannot see the row.
private final class RowLock: NamedLock {
    private let location: PostgresLocation
    private let number: UInt64
    private let connection = Mutex<PostgresConnection?>(nil)

    init(_ location: PostgresLocation, number: UInt64) {
        self.location = location
        self.number = number
    }

    func tryLock() throws(LogError) -> Bool {
        try location.translated { () throws(PostgresError) in
            let deadline = Deadline(after: location.timeout)
            let connection = try location.pool.take(until: deadline)
            do throws(PostgresError) {
                let rows = try connection.flight(
                    [.begin, .mayWait] + Statement.exclude(number, in: location.name), until: deadline
                ).rows
                if rows[3].changed == 1 {
                    self.connection.withLock { $0 = connection }
                    return true
                }
            } catch {
                guard error.isLockTimeout else { throw error }
            }
            _ = try connection.flight([.rollback], until: deadline)
            location.pool.give(back: connection)
            return false
        }
    }

    func check() throws(LogError) {
        let connection = connection.withLock { $0 }
        // This process holds the lock as long as the transaction is open.
        guard let connection, (try? connection.flight([.mayWait], until: Deadline(after: location.timeout))) != nil,
            connection.isInTransaction
        else {
            throw LogError(
                .unreachable,
                "The connection to \(location.path) was lost, and with it a lock. Another program may hold it now. "
                    + "Try again.")
        }
    }

    deinit {
        guard let connection = connection.withLock({ $0.take() }) else { return }
        _ = try? connection.flight([.rollback], until: Deadline(after: location.timeout))
        location.pool.give(back: connection)
    }
}

private final class DatabaseWatch: Sendable {
    let loop: Loop

    init(_ location: PostgresLocation, _ onChange: @escaping @Sendable () -> Void) { loop = Loop(location, onChange) }

    deinit { loop.stop() }

    final class Loop: Sendable {
        /// The polling interval in milliseconds while notifications from the server cannot be relied on.
        private static let shortPause: Int32 = 1_000
        /// The polling interval in milliseconds while the server also sends notifications of changes.
        private static let longPause: Int32 = 5_000

        private let location: PostgresLocation
        private let onChange: @Sendable () -> Void
        private let stopEvent = StopEvent()

        init(_ location: PostgresLocation, _ onChange: @escaping @Sendable () -> Void) {
            self.location = location
            self.onChange = onChange
        }

        func stop() { stopEvent.signal() }

        func run() {
            while !stopEvent.isSignalled {
                onChange()
                do throws(PostgresError) { try listen() } catch { _ = stopEvent.wait(milliseconds: Loop.shortPause) }
            }
        }

        /// Listens until the watch is stopped. Throws if the connection is lost or the server cannot notify.
        private func listen() throws(PostgresError) {
            let deadline = Deadline(after: location.timeout)
            let connection = try location.pool.take(until: deadline)
            var listens = try !connection.isPooled(until: deadline)
            do throws(PostgresError) {
                if listens { _ = try connection.flight([.listen(location.channel)], until: deadline) }
            } catch {
                guard case .refused = error.reason else { throw error }
                listens = false
            }
            // This listener was not notified of earlier changes, so it calls `onChange` in case it missed one.
            onChange()
            var former: StoreHead?
            // Whether this listener holds the lock that writers check. It never waits: that might outlast the process.
            var isKnown = false
            while !stopEvent.isSignalled {
                if listens, !isKnown {
                    isKnown = try connection.flight(
                        [.tryShareLock(location.listenerKey)], until: Deadline(after: location.timeout)
                    ).rows[0].flag(0, 0)
                    // Writers that checked for listeners earlier have not notified this one, so it calls `onChange`.
                    if isKnown { onChange() }
                }
                let pause = isKnown ? Loop.longPause : Loop.shortPause
                let isNotified = try connection.waitForNotification(or: stopEvent.descriptor, milliseconds: pause)
                let answer = try connection.flight([.head(of: location.name)], until: Deadline(after: location.timeout))
                let head = try StoreHead(answer.rows[0])
                if isNotified || head != former { onChange() }
                former = head
            }
        }
    }
}

extension Statement {
    fileprivate static func listen(_ channel: String) -> Statement { Statement("LISTEN \(channel)") }
    fileprivate static func tryShareLock(_ key: UInt64) -> Statement {
        Statement("SELECT pg_try_advisory_lock_shared($1)", .number(key))
    }
}
