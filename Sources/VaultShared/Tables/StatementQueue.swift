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

    mutating func addExtents(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, of generation: UInt64) {
        for start in stride(from: 0, to: bytes.count, by: Schema.extentSize) {
            let piece = Array(bytes[start..<min(start + Schema.extentSize, bytes.count)])
            add(.insertExtent(generation, at: offset + UInt64(start), piece))
        }
    }

    /// Takes all of them, to be sent.
    mutating func take() -> [Statement] {
        defer { (statements, size, hasSent) = ([], 0, hasSent || !statements.isEmpty) }
        return statements
    }
}
