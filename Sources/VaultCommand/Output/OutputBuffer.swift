import FoundationEssentials

/// Writes long lists to standard output, a piece at a time.
///
/// What is less than a piece is written by ``finish()`` alone, so that a command that fails early has no result.
struct OutputBuffer: ~Copyable {
    private static let pieceSize = 64 << 10

    private var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(OutputBuffer.pieceSize)
    }

    mutating func append(_ text: String) throws {
        bytes.append(contentsOf: text.utf8)
        try writePiece()
    }

    /// Appends a string of JSON, with its quotation marks.
    mutating func append(json text: String) throws {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: Escaping.json(text))
        bytes.append(UInt8(ascii: "\""))
        try writePiece()
    }

    mutating func append(_ date: Date) throws {
        Timestamp.write(date) { bytes.append($0) }
        try writePiece()
    }

    /// Writes what is left.
    consuming func finish() throws {
        try StandardOutput.write(bytes)
    }

    private mutating func writePiece() throws {
        guard bytes.count >= OutputBuffer.pieceSize else { return }
        try StandardOutput.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}
