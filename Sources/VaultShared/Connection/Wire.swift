import CLinux
private import Glibc
import LinuxSystem

/// The bytes between libpq and a server. libpq has one end of a pair of sockets in place of its own, and the bytes are
/// copied from one to the other here.
///
/// libpq receives bytes without a limit, and allocates as much as a message claims to have, up to 1 GiB. The wire
/// passes on only as many bytes as a result may have, and one piece at a time.
struct Wire: ~Copyable {
    /// The socket that libpq has connected.
    private let server: FileDescriptor
    /// This process's end of the pair.
    private let inner: FileDescriptor
    /// The bytes that the server has not accepted yet.
    private var outgoing: ArraySlice<UInt8> = []
    /// The number of bytes that the server may still send.
    private var allowance = Wire.room

    /// The number of bytes for errors, warnings, settings, and a certificate.
    private static let room: UInt64 = 256 << 10
    private static let pieceSize = 64 << 10
    private static let sending = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)

    /// Replaces a connected socket by one end of the pair.
    init(replacing socket: Int32) throws(PostgresError) {
        var end: Int32 = -1
        server = FileDescriptor(owning: vault_split_socket(socket, &end))
        inner = FileDescriptor(owning: end)
        guard server.number >= 0 else {
            throw PostgresError(.loginRefused, "no socket can be created: \(SystemError.message(for: errno))")
        }
    }

    /// The socket to wait for.
    var descriptor: Int32 { server.number }
    /// Whether all bytes that libpq has written were sent.
    var isSent: Bool { outgoing.isEmpty }

    /// Allows the server to send the result of the next statements, and no more.
    ///
    /// - Parameter bytes: the maximum number of bytes of values. Each record is in a row of its own, whose overhead is
    ///   smaller than the record.
    mutating func allow(_ bytes: UInt64) { allowance = 2 * min(bytes, 1 << 40) + Wire.room }

    /// Passes the bytes that have arrived to libpq, up to one piece. libpq has read all earlier bytes.
    mutating func carryIn() throws(PostgresError) {
        try withUnsafeTemporaryAllocation(byteCount: Wire.pieceSize, alignment: 8) { (piece) throws(PostgresError) in
            let count = recv(server.number, piece.baseAddress, piece.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            // libpq detects the lost connection by itself.
            guard count > 0 else {
                shutdown(inner.number, Int32(SHUT_WR))
                return
            }
            guard UInt64(count) <= allowance else {
                throw PostgresError(.malformed, "the server sends more than was requested")
            }
            allowance -= UInt64(count)
            // The pair is empty, and it has room for more than a piece.
            guard send(inner.number, piece.baseAddress, count, Wire.sending) == count
            else { throw PostgresError(.lost, "the connection cannot be read: \(SystemError.message(for: errno))") }
        }
    }

    /// Sends the bytes that libpq has written, as far as the server accepts them.
    mutating func carryOut() {
        withUnsafeTemporaryAllocation(byteCount: Wire.pieceSize, alignment: 8) { piece in
            while true {
                while !outgoing.isEmpty {
                    let count = outgoing.withUnsafeBytes { send(server.number, $0.baseAddress, $0.count, Wire.sending) }
                    if count < 0, errno == EAGAIN { return }
                    // If the connection is lost, the server's last bytes can still be read.
                    outgoing = count < 0 && errno != EINTR ? [] : outgoing.dropFirst(max(0, count))
                }
                let count = recv(inner.number, piece.baseAddress, piece.count, Int32(MSG_DONTWAIT))
                guard count > 0 else { return }
                outgoing = Array(piece[..<count])[...]
            }
        }
    }
}
