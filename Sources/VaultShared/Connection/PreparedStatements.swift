import CPostgres
import Formats
import Sealing

/// The statements that a session has prepared on the server, because parsing and planning take longer than execution.
///
/// Only a long-lived session prepares its statements, once. A command ends after a few flights.
struct PreparedStatements {
    /// A statement without its parameters' values.
    struct Form: Hashable {
        let text: String
        let types: [Oid]

        init(_ statement: Statement) {
            text = statement.text
            types = statement.types
        }

        /// The statement's name on the server, derived from the text. A pooler may share one session among clients
        /// without their knowledge, so a name must mean the same statement for all of them.
        var name: String { "vault_\(RunningHash.number(of: text))" }
    }

    /// Disables sequential scans. Otherwise a plan that was made while the tables were small would keep scanning them.
    static let setting = Statement("SELECT set_config('enable_seqscan', 'off', false)")
    private static let flightsBefore = 16

    private var sent: Set<Form> = []
    private var flights = 0
    private var names: [String: String] = [:]

    func name(of statement: Statement) -> String? { names.isEmpty ? nil : names[statement.text] }

    /// Records a flight's statements, except in the session's first flights and after the preparation.
    mutating func note(_ statements: [Statement]) {
        guard flights < PreparedStatements.flightsBefore else { return }
        flights += 1
        if flights > PreparedStatements.flightsBefore / 2 { sent.formUnion(statements.map(Form.init)) }
    }

    /// Returns the statements to prepare; none before enough flights have been recorded, and none on later calls.
    mutating func takeDue() -> Set<Form> {
        guard flights == PreparedStatements.flightsBefore else { return [] }
        return exchange(&sent, with: [])
    }

    mutating func prepared(_ forms: Set<Form>) { for form in forms { names[form.text] = form.name } }

    /// Forgets the names of all prepared statements, because the server has lost these statements.
    mutating func forget() { names = [:] }
}
