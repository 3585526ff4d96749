import CPostgres
private import Glibc
import LinuxSystem

// A flight is a group of statements that libpq pipelines in one round trip (PostgreSQL's documentation, 34.5).

extension PostgresConnection {
    struct Answer {
        let rows: [Rows]
        let hasWarning: Bool
    }

    /// Sends statements in one flight, and waits for all of their results.
    ///
    /// Outside an explicit transaction, the statements form one transaction. Throws the error of the first statement
    /// that fails; the statements after it are not executed.
    func flight(_ statements: [Statement], until deadline: Deadline) throws(PostgresError) -> Answer {
        let answer = try turn.withLock { (session) throws(PostgresError) in
            try fly(statements, &session, until: deadline)
        }
        // If a statement of the transaction failed, the server answers COMMIT with the tag ROLLBACK, not with an error.
        for (statement, rows) in zip(statements, answer.rows)
        where statement.text == Statement.commit.text && rows.tag != "COMMIT" {
            throw .aborted
        }
        return answer
    }

    /// Sends a statement, and passes its rows to `take` one by one as they arrive (PostgreSQL's documentation, 34.6,
    /// "Retrieving Query Results Row-by-Row"). A result of many megabytes is thus never held in memory all at once.
    ///
    /// - Parameter take: handles a row. It must not use the connection.
    func rows(of statement: Statement, until deadline: Deadline, _ take: RowTaker) throws(PostgresError) {
        try turn.withLock { (session) throws(PostgresError) in
            _ = try fly([statement], &session, until: deadline, byRow: true, take)
        }
    }

    /// Works like ``rows(of:until:_:)``, but returns false immediately if another thread is using the connection.
    func rowsIfFree(of statement: Statement, until deadline: Deadline, _ take: RowTaker) throws(PostgresError) -> Bool {
        try turn.withLockIfAvailable { (session) throws(PostgresError) in
            try fly([statement], &session, until: deadline, byRow: true, take)
        } != nil
    }

    typealias RowTaker = (Rows) throws(PostgresError) -> Void

    /// Sends a single statement without waiting for its result. ``answer(until:)`` must follow.
    func send(_ statement: Statement) throws(PostgresError) {
        try checkProcess()
        try turn.withLock { (session) throws(PostgresError) in
            try depart(&session, limit: statement.limit, until: .now) { (_) throws(PostgresError) in
                try send(statement, as: nil)
            }
        }
    }

    /// Waits for the result of the statement that ``send(_:)`` has sent.
    func answer(until deadline: Deadline) throws(PostgresError) -> Rows {
        try checkProcess()
        return try turn.withLock { (session) throws(PostgresError) in
            try arrive(of: 1, &session, until: deadline).rows[0]
        }
    }

    private func fly(
        _ statements: [Statement], _ session: inout Session, until deadline: Deadline,
        byRow isByRow: Bool = false, _ take: RowTaker = { _ in }
    ) throws(PostgresError) -> Answer {
        if PQtransactionStatus(handle) == PQTRANS_IDLE { try prepare(&session, until: deadline) }
        defer { session.prepared.note(statements) }
        let limit = statements.reduce(0) { $0 + $1.limit }
        do throws(PostgresError) {
            try depart(&session, limit: limit, until: deadline) { (session) throws(PostgresError) in
                for statement in statements {
                    try send(statement, as: session.prepared.name(of: statement))
                    // Flushes after a large statement. Otherwise, libpq would move the unsent bytes in its buffer on
                    // each send, for example 90 times for 16 MiB.
                    if statement.size > 64 << 10 { try flush(&session, until: deadline) }
                }
            }
            // If libpq refuses this, it returns all rows in one result, which is also correct but needs more memory.
            if isByRow { PQsetSingleRowMode(handle) }
            return try arrive(of: statements.count, &session, until: deadline, take)
        } catch {
            if error.isUnprepared { session.prepared.forget() }
            throw error
        }
    }

    /// Prepares the statements that ``PreparedStatements/takeDue()`` returns, if any; behind a pooler, prepares none.
    private func prepare(_ session: inout Session, until deadline: Deadline) throws(PostgresError) {
        let forms = session.prepared.takeDue()
        guard !forms.isEmpty else { return }
        do throws(PostgresError) {
            guard try !isPooledNow(&session, until: deadline) else { return }
            try depart(&session, limit: 0, until: deadline) { (_) throws(PostgresError) in
                try send(PreparedStatements.setting, as: nil)
                for form in forms {
                    guard PQsendPrepare(handle, form.name, form.text, Int32(form.types.count), form.types) == 1 else {
                        throw failure(.lost)
                    }
                }
            }
            _ = try arrive(of: 1 + forms.count, &session, until: deadline)
            session.prepared.prepared(forms)
        } catch {
            // A refusal to prepare the statements is ignored, because the server can execute them unprepared.
            guard case .refused = error.reason else { throw error }
        }
    }

    /// - Parameter limit: the maximum total size in bytes of all values in the results.
    private func depart(
        _ session: inout Session, limit: UInt64, until deadline: Deadline,
        _ send: (inout Session) throws(PostgresError) -> Void
    ) throws(PostgresError) {
        warnings.clear()
        session.wire?.allow(limit)
        guard PQenterPipelineMode(handle) == 1 else { throw failure(.lost) }
        try send(&session)
        guard PQpipelineSync(handle) == 1 else { throw failure(.lost) }
        try flush(&session, until: deadline)
    }

    private func arrive(
        of count: Int, _ session: inout Session, until deadline: Deadline, _ take: RowTaker = { _ in }
    ) throws(PostgresError) -> Answer {
        let rows = try results(&session, until: deadline, take)
        guard PQexitPipelineMode(handle) == 1 else { throw failure(.lost) }
        let answer = try rows.get()
        guard answer.count == count else { throw .malformed("a result") }
        return Answer(rows: answer, hasWarning: warnings.isAny)
    }

    /// - Parameter name: the prepared statement's name; if nil, the statement's text is sent.
    private func send(_ statement: Statement, as name: String?) throws(PostgresError) {
        let count = Int32(statement.parameters.count)
        let isSent = statement.withEncodedParameters { values, lengths, formats in
            if let name {
                PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
            } else {
                PQsendQueryParams(handle, statement.text, count, statement.types, values, lengths, formats, 1)
            }
        }
        guard isSent == 1 else { throw failure(.lost) }
    }

    private func flush(_ session: inout Session, until deadline: Deadline) throws(PostgresError) {
        while true {
            let state = PQflush(handle)
            guard state >= 0 else { throw failure(.lost) }
            session.wire?.carryOut()
            if session.wire?.isSent ?? true {
                if state == 0 { return }
            } else {
                // Also waits for incoming bytes, because a server may accept no more until its results are read.
                try wait(session, for: Int16(POLLIN | POLLOUT), until: deadline)
                try receive(&session)
            }
        }
    }

    /// Reads the results of a whole flight. Throws an error of the connection, but returns the error of a statement.
    private func results(
        _ session: inout Session, until deadline: Deadline, _ take: RowTaker
    ) throws(PostgresError) -> Result<[Rows], PostgresError> {
        var rows: [Rows] = []
        var refusal: PostgresError?
        // After the deadline, reads the bytes that have already arrived, but does not wait for more.
        var isLate = false
        while true {
            while PQisBusy(handle) == 1 {
                guard !isLate else { throw .timedOut }
                try wait(session, for: Int16(POLLIN), until: deadline)
                isLate = deadline.hasPassed
                try receive(&session)
            }
            guard let result = PQgetResult(handle) else {
                guard PQstatus(handle) == CONNECTION_OK else { throw failure(.lost) }
                continue
            }
            let answer = Rows(result)
            switch PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC: return refusal.map { .failure($0) } ?? .success(rows)
            case PGRES_SINGLE_TUPLE: try take(answer)
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                try take(answer)
                rows.append(answer)
            case PGRES_PIPELINE_ABORTED: break
            default:
                guard let state = PQresultErrorField(result, fieldCode("C")) else { throw failure(.lost) }
                let message = text(PQresultErrorField(result, fieldCode("M")))
                refusal = refusal ?? PostgresError(.refused(String(cString: state)), message)
            }
        }
    }

    /// Returns whether the connection goes through a pooler, which may reuse the session and its settings for other
    /// clients. Behind a pooler, the ID of the server process differs from the one that was reported at the login.
    func isPooled(until deadline: Deadline) throws(PostgresError) -> Bool {
        try turn.withLock { (session) throws(PostgresError) in try isPooledNow(&session, until: deadline) }
    }

    private func isPooledNow(_ session: inout Session, until deadline: Deadline) throws(PostgresError) -> Bool {
        try depart(&session, limit: 0, until: deadline) { (_) throws(PostgresError) in
            try send(Statement("SELECT pg_backend_pid()::int8"), as: nil)
        }
        return try arrive(of: 1, &session, until: deadline).rows[0].number(0, 0) != UInt64(max(0, PQbackendPID(handle)))
    }
}
