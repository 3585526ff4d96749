/// SQL statements that are collected, and sent together with the next statement whose result is needed.
struct StatementQueue {
    private(set) var statements: [Statement] = []
    private var size = 0
    private(set) var hasSent = false

    /// The size in bytes at which the statements are sent early. CockroachDB accepts messages of at most 16 MiB.
    private static let limit = 4 << 20

    var isFull: Bool { size >= StatementQueue.limit }

    mutating func add(_ statement: Statement) {
        statements.append(statement)
        size += statement.size
    }

    /// Adds statements that insert the bytes as extents, without copying the bytes.
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
