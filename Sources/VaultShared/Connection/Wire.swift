import CLinux
private import Glibc
import LinuxSystem

/// A relay between libpq and a server. libpq gets one end of a socket pair instead of its own socket, and the wire
/// copies bytes between the other end and the server.
///
/// libpq does not limit how much it receives, and allocates as much memory as a message's header claims, up to 1 GiB.
/// The wire therefore passes the bytes on in small pieces, and only up to a limit.
struct Wire: ~Copyable {
    /// The socket that libpq has connected to the server.
    private let server: FileDescriptor
    /// This relay's end of the socket pair; libpq has the other end.
    private let inner: FileDescriptor
    /// The bytes from libpq that the server has not accepted yet.
    private var outgoing: ArraySlice<UInt8> = []
    /// The number of bytes that the server may still send.
    private var allowance = Wire.room

    /// The number of bytes that a server may send in addition to results: errors, warnings, settings and a certificate.
    private static let room: UInt64 = 256 << 10
    private static let pieceSize = 64 << 10
    private static let sending = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)

    /// Replaces libpq's connected socket with one end of a socket pair.
    init(replacing socket: Int32) throws(PostgresError) {
        var end: Int32 = -1
        server = FileDescriptor(owning: vault_split_socket(socket, &end))
        inner = FileDescriptor(owning: end)
        guard server.number >= 0 else {
            throw PostgresError(.loginRefused, "no socket can be created: \(SystemError.message(for: errno))")
        }
    }

    /// The descriptor of the server's socket, on which callers wait.
    var descriptor: Int32 { server.number }
    /// Whether all bytes from libpq have been sent to the server.
    var isSent: Bool { outgoing.isEmpty }

    /// Limits the number of bytes that the server may send in response to the next statements.
    ///
    /// - Parameter bytes: the maximum total size of the values in the results. Twice as much is allowed, because each
    ///   record is in a separate row, and a row's overhead is smaller than a record.
    mutating func allow(_ bytes: UInt64) { allowance = 2 * min(bytes, 1 << 40) + Wire.room }

    /// Passes at most one piece of bytes from the server to libpq, which must already have read all earlier bytes.
    mutating func carryIn() throws(PostgresError) {
        try withUnsafeTemporaryAllocation(byteCount: Wire.pieceSize, alignment: 8) { (piece) throws(PostgresError) in
            let count = recv(server.number, piece.baseAddress, piece.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            // If the connection to the server has ended, libpq is sent an end of file, so that it reports the loss.
            guard count > 0 else {
                shutdown(inner.number, Int32(SHUT_WR))
                return
            }
            guard UInt64(count) <= allowance else {
                throw PostgresError(.malformed, "the server sent more than was requested")
            }
            allowance -= UInt64(count)
            // The socket pair is empty and has room for a whole piece, so sending only part of one is an error.
            guard send(inner.number, piece.baseAddress, count, Wire.sending) == count
            else { throw PostgresError(.lost, "the connection cannot be read: \(SystemError.message(for: errno))") }
        }
    }

    /// Passes bytes from libpq to the server, as many as can be sent without waiting.
    ///
    /// If sending fails, shuts down the sending half of the connection. Otherwise the server would wait for the rest of
    /// a message, and libpq for an answer.
    mutating func carryOut() {
        withUnsafeTemporaryAllocation(byteCount: Wire.pieceSize, alignment: 8) { piece in
            while true {
                while !outgoing.isEmpty {
                    let count = outgoing.withUnsafeBytes { send(server.number, $0.baseAddress, $0.count, Wire.sending) }
                    if count < 0, errno == EINTR { continue }
                    if count < 0, errno == EAGAIN { return }
                    guard count >= 0 else {
                        outgoing = []
                        return endSending()
                    }
                    outgoing = outgoing.dropFirst(count)
                }
                let count = recv(inner.number, piece.baseAddress, piece.count, Int32(MSG_DONTWAIT))
                if count < 0, errno == EINTR { continue }
                if count < 0, errno != EAGAIN { endSending() }
                guard count > 0 else { return }
                outgoing = Array(piece[..<count])[...]
            }
        }
    }

    /// Shuts down the sending half of the connection. The server's last bytes can still be read.
    private func endSending() { shutdown(server.number, Int32(SHUT_WR)) }
}
