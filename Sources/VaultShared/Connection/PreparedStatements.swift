import CPostgres
import Formats
import Sealing

/// The statements that a session's server has prepared: to read and plan one takes longer than to carry it out.
///
/// A command ends after a few flights. A session that goes on prepares once what it has sent of late.
struct PreparedStatements {
    /// A statement without its values.
    struct Form: Hashable {
        let text: String
        let types: [Oid]

        init(_ statement: Statement) { (text, types) = (statement.text, statement.types) }

        /// Is derived from the text. A pooler that we do not notice may share a session among clients: for each of
        /// them, the name stands for the same text.
        var name: String { "vault_\(RunningHash.number(of: text))" }
    }

    /// A plan that is made while the tables are small would read the whole of them for ever.
    static let setting = Statement("SELECT set_config('enable_seqscan', 'off', false)")
    private static let flightsBefore = 16

    private var sent: Set<Form> = []
    private var flights = 0
    private var names: [String: String] = [:]

    /// The name under which the server knows a statement; nil if it is not prepared.
    func name(of statement: Statement) -> String? { names.isEmpty ? nil : names[statement.text] }

    /// Notes the statements of a flight, if it is not one of the first.
    mutating func note(_ statements: [Statement]) {
        guard flights < PreparedStatements.flightsBefore else { return }
        flights += 1
        if flights > PreparedStatements.flightsBefore / 2 { sent.formUnion(statements.map(Form.init)) }
    }

    /// Returns what is to be prepared now: once, and then nothing more.
    mutating func takeDue() -> Set<Form> {
        guard flights == PreparedStatements.flightsBefore else { return [] }
        return exchange(&sent, with: [])
    }

    mutating func prepared(_ forms: Set<Form>) {
        for form in forms { names[form.text] = form.name }
    }

    /// The server does not know them, for whatever reason.
    mutating func forget() { names = [:] }
}
