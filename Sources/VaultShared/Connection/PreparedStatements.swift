import CPostgres
import Formats
import Sealing

/// The statements that a session has prepared, because the server takes longer to parse and plan than to execute them.
///
/// Only a long-lived session prepares its statements. A command ends too soon to benefit.
struct PreparedStatements {
    /// A statement without its parameters' values.
    struct Form: Hashable {
        let text: String
        let types: [Oid]

        init(_ statement: Statement) {
            text = statement.text
            types = statement.types
        }

        /// The name of the statement on the server, derived from its text. A pooler may share one session among several
        /// clients, so a name must mean the same statement to all of them.
        var name: String { "vault_\(RunningHash.number(of: text))" }
    }

    /// Disables sequential scans. Otherwise the server would keep using plans that it made when the tables were small.
    static let setting = Statement("SELECT set_config('enable_seqscan', 'off', false)")
    private static let flightsBefore = 16

    private var sent: Set<Form> = []
    private var flights = 0
    private var names: [String: String] = [:]

    func name(of statement: Statement) -> String? { names.isEmpty ? nil : names[statement.text] }

    /// Counts a flight (one round trip's statements). Records those in the second half of the first `flightsBefore`.
    mutating func note(_ statements: [Statement]) {
        guard flights < PreparedStatements.flightsBefore else { return }
        flights += 1
        if flights > PreparedStatements.flightsBefore / 2 { sent.formUnion(statements.map(Form.init)) }
    }

    /// Returns the recorded statements on the first call after `flightsBefore` flights; on all other calls, none.
    mutating func takeDue() -> Set<Form> {
        guard flights == PreparedStatements.flightsBefore else { return [] }
        return exchange(&sent, with: [])
    }

    mutating func prepared(_ forms: Set<Form>) { for form in forms { names[form.text] = form.name } }

    /// Forgets the names of all prepared statements, because the server has lost these statements.
    mutating func forget() { names = [:] }
}
