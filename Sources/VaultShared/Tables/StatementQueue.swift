import SealedLog

/// Statements that are sent together with the next one whose result is needed.
struct StatementQueue {
    private(set) var statements: [Statement] = []
    private var size = 0
    private(set) var hasSent = false

    /// The size from which on the statements are sent earlier: CockroachDB accepts messages up to 16 MiB.
    private static let limit = 4 << 20

    var isFull: Bool { size >= StatementQueue.limit }

    mutating func add(_ statement: Statement) {
        statements.append(statement)
        size += statement.size
    }

    /// Adds the insertion of bytes, in pieces that are not copied.
    mutating func addExtents(_ bytes: ArraySlice<UInt8>, at offset: UInt64, of generation: UInt64) {
        var rest = bytes
        var offset = offset
        while !rest.isEmpty {
            let piece = rest.prefix(Schema.extentSize)
            add(.insertExtent(generation, at: offset, piece))
            rest = rest.dropFirst(piece.count)
            offset += UInt64(piece.count)
        }
    }

    mutating func take() -> [Statement] {
        defer {
            hasSent = hasSent || !statements.isEmpty
            statements = []
            size = 0
        }
        return statements
    }
}
