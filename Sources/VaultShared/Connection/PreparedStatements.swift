import CPostgres
import Formats
import Sealing

/// The statements that a session's server has prepared, since parsing and planning one takes longer than executing it.
///
/// A command ends after a few flights. A long-lived session prepares its recent statements once.
struct PreparedStatements {
    /// A statement without its values.
    struct Form: Hashable {
        let text: String
        let types: [Oid]

        init(_ statement: Statement) {
            text = statement.text
            types = statement.types
        }

        /// The name, which is derived from the text. A pooler may share a session among clients unnoticed, so the name
        /// must mean the same statement for all of them.
        var name: String { "vault_\(RunningHash.number(of: text))" }
    }

    /// A plan that is made while the tables are small would scan them completely forever.
    static let setting = Statement("SELECT set_config('enable_seqscan', 'off', false)")
    private static let flightsBefore = 16

    private var sent: Set<Form> = []
    private var flights = 0
    private var names: [String: String] = [:]

    func name(of statement: Statement) -> String? { names.isEmpty ? nil : names[statement.text] }

    /// Records the statements of a flight, unless it is one of the first.
    mutating func note(_ statements: [Statement]) {
        guard flights < PreparedStatements.flightsBefore else { return }
        flights += 1
        if flights > PreparedStatements.flightsBefore / 2 { sent.formUnion(statements.map(Form.init)) }
    }

    /// Returns the statements to be prepared now: once, and then none.
    mutating func takeDue() -> Set<Form> {
        guard flights == PreparedStatements.flightsBefore else { return [] }
        return exchange(&sent, with: [])
    }

    mutating func prepared(_ forms: Set<Form>) { for form in forms { names[form.text] = form.name } }

    /// Drops the names when the server does not have the statements, for whatever reason.
    mutating func forget() { names = [:] }
}
