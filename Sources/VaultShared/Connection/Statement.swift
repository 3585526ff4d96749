import CPostgres

/// An SQL statement and its parameters, which are sent separately from the text.
struct Statement {
    enum Parameter {
        case bytes(ArraySlice<UInt8>)
        case number(UInt64)
        case text(String)
        case noNumber

        static func bytes(_ bytes: [UInt8]) -> Parameter { .bytes(bytes[...]) }
    }

    let text: String
    let parameters: [Parameter]
    /// The maximum total size of the values in the result, in bytes.
    let limit: UInt64

    init(_ text: String, _ parameters: Parameter..., limit: UInt64 = 0) {
        self.text = text
        self.parameters = parameters
        self.limit = limit
    }

    var size: Int {
        parameters.reduce(text.utf8.count) { size, parameter in
            if case .bytes(let bytes) = parameter { size + bytes.count } else { size + 16 }
        }
    }

    static let begin = Statement("BEGIN ISOLATION LEVEL READ COMMITTED")
    static let commit = Statement("COMMIT")
    static let rollback = Statement("ROLLBACK")

    var types: [Oid] { parameters.map(\.type) }

    /// Passes the parameters to `body` in the form that libpq requires. An SQL null is passed as a nil pointer.
    func withEncodedParameters(
        _ body: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Int32
    ) -> Int32 {
        encode(parameters[...], behind: [], []) { body($0, $1, [Int32](repeating: 1, count: $0.count)) }
    }

    private func encode(
        _ rest: ArraySlice<Parameter>, behind values: [UnsafePointer<CChar>?], _ lengths: [Int32],
        _ body: ([UnsafePointer<CChar>?], [Int32]) -> Int32
    ) -> Int32 {
        guard let first = rest.first else { return body(values, lengths) }
        return first.withEncoded { bytes in
            let value = bytes?.baseAddress?.assumingMemoryBound(to: CChar.self)
            return encode(rest.dropFirst(), behind: values + [value], lengths + [Int32(bytes?.count ?? 0)], body)
        }
    }
}

extension Statement.Parameter {
    /// The type's OID in PostgreSQL's catalogue (pg_type.dat).
    fileprivate var type: Oid {
        switch self {
        case .bytes: 17
        case .number, .noNumber: 20
        case .text: 25
        }
    }

    /// Passes the value to `body` in PostgreSQL's binary format, or nil for an SQL null.
    fileprivate func withEncoded(_ body: (UnsafeRawBufferPointer?) -> Int32) -> Int32 {
        switch self {
        case .bytes(let bytes):
            // An empty slice may have a nil pointer, which libpq would send as null, so another pointer is passed.
            bytes.isEmpty ? [0].withUnsafeBytes { body(.init(rebasing: $0[..<0])) } : bytes.withUnsafeBytes(body)
        case .number(let number): withUnsafeBytes(of: number.bigEndian, body)
        case .text(let text): text.withCString { body(.init(start: $0, count: text.utf8.count)) }
        case .noNumber: body(nil)
        }
    }
}

/// The result of a statement.
///
/// It is `@unchecked Sendable`: libpq never changes a result (PostgreSQL's documentation, 34.20).
final class Rows: @unchecked Sendable {
    private let result: OpaquePointer

    /// - Parameter result: libpq's result, which this object frees.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }
    /// PostgreSQL's command tag, which names the executed command, such as `BEGIN`.
    var tag: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }
    /// The number of rows that the statement has changed.
    var changed: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// Returns the value in a row and a column; nil for an SQL null. The bytes are valid as long as this object exists.
    func value(_ row: Int, _ column: Int32) -> UnsafeRawBufferPointer? {
        guard row < count, column < PQnfields(result), PQgetisnull(result, Int32(row), column) == 0,
            let start = PQgetvalue(result, Int32(row), column)
        else { return nil }
        return UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, Int32(row), column)))
    }

    func size(ofColumn column: Int32) -> Int { (0..<count).reduce(0) { $0 + (value($1, column)?.count ?? 0) } }

    func bytes(_ row: Int, _ column: Int32) throws(PostgresError) -> [UInt8] {
        guard let value = value(row, column) else { throw .malformed("a value") }
        return Array(value)
    }

    func number(_ row: Int, _ column: Int32) throws(PostgresError) -> UInt64 {
        guard let number = try optionalNumber(row, column) else { throw .malformed("a number") }
        return number
    }

    func optionalNumber(_ row: Int, _ column: Int32) throws(PostgresError) -> UInt64? {
        guard let number = try optionalBits(row, column) else { return nil }
        guard number < 1 << 63 else { throw .malformed("a number that is not negative") }
        return number
    }

    /// Returns the bit pattern of a number that may be negative.
    func bits(_ row: Int, _ column: Int32) throws(PostgresError) -> UInt64 {
        guard let bits = try optionalBits(row, column) else { throw .malformed("a number") }
        return bits
    }

    func optionalBits(_ row: Int, _ column: Int32) throws(PostgresError) -> UInt64? {
        guard let value = value(row, column) else { return nil }
        guard value.count == 8 else { throw .malformed("a number") }
        return UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
    }

    func flag(_ row: Int, _ column: Int32) throws(PostgresError) -> Bool { try bytes(row, column) == [1] }
}
