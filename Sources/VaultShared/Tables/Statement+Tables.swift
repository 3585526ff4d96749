import SealedFormat
import Sealing

// The statements that stores send; see ``Schema``.

extension Statement {
    private static let headColumns = "generation, sequence, authenticator, size, hint_offset, hint_sequence"

    /// The server's clock in milliseconds since 1970. `now()` is the transaction's start, before any wait for a lock.
    private static let clock = "(extract(epoch FROM clock_timestamp()) * 1000)::int8"
    /// The column in which ``head(of:)`` returns the server's time.
    static let clockColumn: Int32 = 6
    /// The column of the server's time in the result of ``lockedHead(of:listeners:)``.
    static let lockedClockColumn: Int32 = 7

    /// A statement that fails if one of the tables is missing.
    static let tables = Statement("SELECT FROM vault.head, vault.generation, vault.extent LIMIT 0")

    static func head(of name: [UInt8]) -> Statement {
        Statement("SELECT \(headColumns), \(clock) FROM vault.head WHERE name = $1", .bytes(name))
    }

    static func header(of name: [UInt8]) -> Statement {
        Statement(
            """
            SELECT first_byte, bytes FROM vault.extent
            WHERE generation = (SELECT generation FROM vault.head WHERE name = $1) AND first_byte = 0
            """, .bytes(name), limit: UInt64(Schema.extentSize))
    }

    /// Selects the extents that start in the last `count` bytes, from the hint on; all if the log has no more bytes.
    static func tail(of name: [UInt8], upTo count: UInt64) -> Statement {
        Statement(
            """
            SELECT first_byte, bytes FROM vault.extent JOIN vault.head USING (generation)
            WHERE name = $1 AND first_byte >= 0 AND first_byte < size
                AND (size <= $2 OR first_byte >= greatest(coalesce(hint_offset, 0), size - $2))
            ORDER BY first_byte
            """, .bytes(name), .number(count), limit: count)
    }

    /// Selects the last `count` bytes of the generation's initial contents. They include the root page of the index.
    static func base(of name: [UInt8], count: UInt64, unlessSmallerThan size: UInt64) -> Statement {
        Statement(
            """
            SELECT greatest(first_byte, base - $2), substring(bytes, (greatest(base - $2 - first_byte, 0) + 1)::int4,
                (least(first_byte + length(bytes), base) - greatest(first_byte, base - $2))::int4)
            FROM vault.extent
                JOIN (SELECT generation, size, greatest(base, 0) AS base FROM vault.head WHERE name = $1) AS head
                USING (generation)
            WHERE size > $3 AND first_byte > base - $2 - \(Schema.extentSize) AND first_byte < base
                AND first_byte + length(bytes) > base - $2
            ORDER BY first_byte
            """, .bytes(name), .number(count), .number(size), limit: count)
    }

    /// Tests whether an extent is outside the log: it starts at a negative offset, or extends beyond the end recorded
    /// in the vault's row. A single statement reads the extents and the row from the same snapshot.
    static func hasMore(_ name: [UInt8]) -> Statement {
        Statement(
            """
            SELECT EXISTS (SELECT 1 FROM vault.extent JOIN vault.head USING (generation)
                WHERE name = $1 AND (first_byte < 0 OR first_byte >= size OR first_byte > greatest(size, 0) - \(Schema.extentSize)
                    AND length(bytes) > greatest(size, 0) - greatest(first_byte, 0)))
            """, .bytes(name))
    }

    /// Selects the end of a generation's last extent. Selects no row if the generation has no extent.
    static func end(_ generation: UInt64) -> Statement {
        Statement(
            "SELECT first_byte + length(bytes) FROM vault.extent WHERE generation = $1 ORDER BY first_byte DESC LIMIT 1",
            .number(generation))
    }

    /// Selects the extents that start within the `count` bytes beginning at `offset`.
    static func extents(_ generation: UInt64, from offset: UInt64, upTo count: UInt64) -> Statement {
        Statement(
            """
            SELECT first_byte, bytes FROM vault.extent WHERE generation = $1 AND first_byte >= $2 AND first_byte < $2 + $3
            ORDER BY first_byte
            """, .number(generation), .number(offset), .number(count), limit: count + UInt64(Schema.extentSize))
    }

    /// Selects the bytes of a range, in pieces. Relies on the maximum extent size, ``Schema/extentSize``.
    static func bytes(_ generation: UInt64, _ range: Range<UInt64>) -> Statement {
        Statement(
            """
            SELECT greatest(first_byte, $2), substring(bytes,
                (greatest($2 - first_byte, 0) + 1)::int4, (least(first_byte + length(bytes), $3) - greatest(first_byte, $2))::int4)
            FROM vault.extent
            WHERE generation = $1 AND first_byte > $2 - \(Schema.extentSize) AND first_byte < $3 AND first_byte + length(bytes) > $2
            ORDER BY first_byte
            """, .number(generation), .number(range.lowerBound), .number(range.upperBound), limit: UInt64(range.count))
    }

    static func insertExtent(_ generation: UInt64, at offset: UInt64, _ bytes: ArraySlice<UInt8>) -> Statement {
        Statement(
            "INSERT INTO vault.extent (generation, first_byte, bytes) VALUES ($1, $2, $3)",
            .number(generation), .number(offset), .bytes(bytes))
    }

    // MARK: Appending

    /// Settings that make a commit return only once it is durable, and warn if its wait for the standby was cancelled.
    /// They override weaker settings of a role or a database, but preserve stronger ones.
    private static let promises = """
        set_config('client_min_messages', 'warning', true), set_config('synchronous_commit', CASE
            current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)
        """

    /// Applies the settings in ``promises`` to a transaction that does not wait for a lock.
    static let promised = Statement("SELECT \(promises)")

    /// Waits in a queue, because row locks are not granted in request order. The queue is fair, but not exclusive: any
    /// database user can hold its lock, and older versions of CockroachDB do not wait for advisory locks.
    ///
    /// The server ends the wait after the timeout, even if this process has exited.
    ///
    /// - Parameter key: the key of the queue's lock; if nil, the timeout applies only to the statements that follow.
    static func queue(_ key: UInt64?, upTo milliseconds: UInt64) -> Statement {
        Statement(
            """
            SELECT set_config('lock_timeout', $1, true), \(promises),
                CASE WHEN $3 = 1 THEN pg_advisory_xact_lock($2) END
            """, .text("\(max(1, milliseconds))ms"), .number(key ?? 0), .number(key == nil ? 0 : 1))
    }

    /// Locks and selects the vault's row, and checks whether there are listeners. Each listener holds a shared lock.
    /// Writers send NOTIFY only if there are listeners, because committing a NOTIFY locks the whole database.
    static func lockedHead(of name: [UInt8], listeners key: UInt64) -> Statement {
        Statement(
            """
            SELECT \(headColumns), NOT pg_try_advisory_xact_lock($2), \(clock) FROM vault.head WHERE name = $1
            FOR UPDATE
            """, .bytes(name), .number(key))
    }

    static func notify(_ channel: String) -> Statement { Statement("SELECT pg_notify($1, '')", .text(channel)) }

    /// Appends an extent if the log still ends at `previous`. Otherwise fails, because the inserted generation is null.
    static func append(
        _ bytes: ArraySlice<UInt8>, at offset: UInt64, to name: [UInt8], _ head: StoreHead,
        replacing previous: LogPosition
    ) -> Statement {
        Statement(
            """
            WITH moved AS (
                UPDATE vault.head SET sequence = $4, authenticator = $5, size = $6,
                    hint_offset = coalesce($7, hint_offset), hint_sequence = coalesce($8, hint_sequence)
                WHERE name = $1 AND generation = $2 AND sequence = $9 AND authenticator = $10
                RETURNING generation)
            INSERT INTO vault.extent (generation, first_byte, bytes) VALUES ((SELECT generation FROM moved), $3, $11)
            """,
            .bytes(name), .number(head.generation), .number(offset), .number(head.position.sequence),
            .bytes(head.position.authenticator.bytes), .number(head.size), .optional(head.hint?.offset),
            .optional(head.hint?.sequence), .number(previous.sequence), .bytes(previous.authenticator.bytes),
            .bytes(bytes))
    }

    /// A message that changes no data. Once it is durable, so are earlier commits: the server's log is sequential.
    static let proof = Statement("SELECT \(promises), pg_logical_emit_message(true, 'vault', '')")

    // MARK: Replacing

    static func beginGeneration(_ generation: UInt64, of name: [UInt8]) -> Statement {
        Statement("INSERT INTO vault.generation (generation, name) VALUES ($1, $2)", .number(generation), .bytes(name))
    }

    /// Inserts the vault's row, unless one exists.
    static func create(_ name: [UInt8], _ head: StoreHead) -> Statement {
        Statement(
            """
            INSERT INTO vault.head (name, base, \(headColumns)) VALUES ($1, $5, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (name) DO NOTHING
            """,
            .bytes(name), .number(head.generation), .number(head.position.sequence),
            .bytes(head.position.authenticator.bytes), .number(head.size), .optional(head.hint?.offset),
            .optional(head.hint?.sequence))
    }

    /// Points the vault's row to another generation if the log still ends at `previous`. Otherwise changes nothing.
    static func replace(_ name: [UInt8], _ head: StoreHead, _ previous: StoreHead) -> Statement {
        // If the vault's row is malformed, no process appends to the log, so its end need not be compared.
        let comparison =
            previous.isMalformed
            ? "(sequence = $9 AND authenticator = $10) IS NOT NULL" : "sequence = $9 AND authenticator = $10"
        return Statement(
            """
            UPDATE vault.head SET generation = $2, sequence = $3, authenticator = $4, size = $5, base = $5,
                hint_offset = $6, hint_sequence = $7
            WHERE name = $1 AND generation = $8 AND \(comparison)
            """,
            .bytes(name), .number(head.generation), .number(head.position.sequence),
            .bytes(head.position.authenticator.bytes), .number(head.size), .optional(head.hint?.offset),
            .optional(head.hint?.sequence), .number(previous.generation), .number(previous.position.sequence),
            .bytes(previous.position.authenticator.bytes))
    }

    static func markReplaced(_ generation: UInt64) -> Statement {
        Statement("UPDATE vault.generation SET replaced = now() WHERE generation = $1", .number(generation))
    }

    /// Selects a generation's row if the generation has been replaced. A later generation then includes its contents.
    static func replaced(_ generation: UInt64) -> Statement {
        Statement(
            "SELECT generation FROM vault.generation WHERE generation = $1 AND replaced IS NOT NULL",
            .number(generation))
    }

    /// Deletes generations that were replaced long ago, and unfinished generations that were begun more than a day ago.
    static func deleteOldGenerations(of name: [UInt8]) -> [Statement] {
        let old = """
            name = $1 AND generation <> (SELECT generation FROM vault.head WHERE name = $1)
            AND (replaced < now() - interval '\(Schema.generationLifetime)'
                OR replaced IS NULL AND begun < now() - interval '1 day')
            """
        return [
            Statement(
                "DELETE FROM vault.extent WHERE generation IN (SELECT generation FROM vault.generation WHERE \(old))",
                .bytes(name)),
            Statement("DELETE FROM vault.generation WHERE \(old)", .bytes(name)),
        ]
    }

    static func discard(_ generation: UInt64) -> [Statement] {
        ["extent", "generation"].map { table in
            Statement("DELETE FROM vault.\(table) WHERE generation = $1", .number(generation))
        }
    }

    /// Tests whether a lock is free, by trying to acquire it and then rolling back to a savepoint.
    static func isFree(_ key: UInt64) -> [Statement] {
        [
            Statement("SAVEPOINT look"), Statement("SELECT pg_try_advisory_xact_lock_shared($1)", .number(key)),
            Statement("ROLLBACK TO SAVEPOINT look"),
        ]
    }

    /// Acquires a lock that requires write access. The lock is an uncommitted row: other transactions cannot see it,
    /// and cannot insert the same row. If the lock is held, the statement fails after 1 ms.
    static func exclude(_ number: UInt64, in name: [UInt8]) -> [Statement] {
        [
            Statement("SELECT set_config('lock_timeout', '1ms', true)"),
            Statement(
                "INSERT INTO vault.generation (generation, name) VALUES ($1, $2) ON CONFLICT (generation) DO NOTHING",
                // The lock's row has a negative number. Generations never do, so the two cannot collide.
                .number(number | 1 << 63), .bytes(name)),
        ]
    }

    /// Tries to acquire a lock that lasts for the transaction. A pooler would pass a session's lock to another client.
    static func tryLock(_ key: UInt64) -> Statement { Statement("SELECT pg_try_advisory_xact_lock($1)", .number(key)) }

    /// Applies the settings in ``promises``, and lets the transaction idle between statements without a timeout.
    static let mayWait = Statement("SELECT set_config('idle_in_transaction_session_timeout', '0', true), \(promises)")
}

extension Statement.Parameter {
    fileprivate static func optional(_ number: UInt64?) -> Statement.Parameter {
        number.map { .number($0) } ?? .noNumber
    }
}
