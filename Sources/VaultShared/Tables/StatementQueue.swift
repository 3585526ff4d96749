import SealedLog

/// Statements that are sent together with the next one that is waited for.
struct StatementQueue {
    private(set) var statements: [Statement] = []
    private var size = 0
    /// Whether statements have been sent already.
    private(set) var hasSent = false

    /// Larger ones are sent before: CockroachDB takes messages up to 16 MiB.
    private static let limit = 4 << 20

    var isFull: Bool { size >= StatementQueue.limit }

    mutating func add(_ statement: Statement) {
        statements.append(statement)
        size += statement.size
    }

    /// Adds the insertion of bytes, in pieces that are not copied.
    mutating func addExtents(_ bytes: ArraySlice<UInt8>, at offset: UInt64, of generation: UInt64) {
        var (rest, offset) = (bytes, offset)
        while !rest.isEmpty {
            let piece = rest.prefix(Schema.extentSize)
            add(.insertExtent(generation, at: offset, piece))
            rest = rest.dropFirst(piece.count)
            offset += UInt64(piece.count)
        }
    }

    /// Takes all of them, to be sent.
    mutating func take() -> [Statement] {
        defer { (statements, size, hasSent) = ([], 0, hasSent || !statements.isEmpty) }
        return statements
    }
}
