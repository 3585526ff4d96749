import CLinux
private import Glibc
import LinuxSystem

/// The way between libpq and a server: libpq has one end of a pair of sockets in place of its own, and the bytes are
/// carried from one to the other here.
///
/// libpq takes whatever comes, for as long as it comes, and makes room for as much as a message claims to have: 1 GiB.
/// Here it gets no more than what was asked for, and no more at a time than one piece.
struct Wire: ~Copyable {
    /// The socket that libpq has connected.
    private let server: FileDescriptor
    /// Our end of the pair.
    private let inner: FileDescriptor
    /// What the server has not taken yet.
    private var outgoing: ArraySlice<UInt8> = []
    /// How many bytes the server may still send.
    private var allowance = Wire.room

    /// For errors, warnings, settings, and a certificate.
    private static let room: UInt64 = 256 << 10
    private static let pieceSize = 64 << 10
    private static let sending = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)

    /// Takes the place of a connected socket.
    init(replacing socket: Int32) throws(PostgresError) {
        var end: Int32 = -1
        server = FileDescriptor(owning: vault_split_socket(socket, &end))
        inner = FileDescriptor(owning: end)
        guard server.number >= 0 else {
            throw PostgresError(.loginRefused, "no socket can be made: \(SystemError.message(for: errno))")
        }
    }

    /// The socket to wait for.
    var descriptor: Int32 { server.number }
    /// Whether all that libpq has written is sent.
    var isSent: Bool { outgoing.isEmpty }

    /// From now on, the server may send what is asked for next, and no more.
    ///
    /// - Parameter bytes: of values, at most. Each record comes in a row of its own, which takes less than it.
    mutating func allow(_ bytes: UInt64) { allowance = 2 * min(bytes, 1 << 40) + Wire.room }

    /// Gives libpq what has come, up to one piece. libpq has taken all that it was given before.
    mutating func carryIn() throws(PostgresError) {
        try withUnsafeTemporaryAllocation(byteCount: Wire.pieceSize, alignment: 8) { (piece) throws(PostgresError) in
            let count = recv(server.number, piece.baseAddress, piece.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            // libpq finds out by itself that the connection is lost.
            guard count > 0 else {
                shutdown(inner.number, Int32(SHUT_WR))
                return
            }
            guard UInt64(count) <= allowance else {
                throw PostgresError(.malformed, "the server sends more than what was asked for")
            }
            allowance -= UInt64(count)
            // Nothing else is in the pair, which takes more than a piece.
            guard send(inner.number, piece.baseAddress, count, Wire.sending) == count
            else { throw PostgresError(.lost, "the connection cannot be read: \(SystemError.message(for: errno))") }
        }
    }

    /// Sends what libpq has written, as far as the server takes it.
    mutating func carryOut() {
        withUnsafeTemporaryAllocation(byteCount: Wire.pieceSize, alignment: 8) { piece in
            while true {
                while !outgoing.isEmpty {
                    let count = outgoing.withUnsafeBytes {
                        send(server.number, $0.baseAddress, $0.count, Wire.sending)
                    }
                    if count < 0, errno == EAGAIN { return }
                    // Of a lost connection, what the server has said last can still be read.
                    outgoing = count < 0 && errno != EINTR ? [] : outgoing.dropFirst(max(0, count))
                }
                let count = recv(inner.number, piece.baseAddress, piece.count, Int32(MSG_DONTWAIT))
                guard count > 0 else { return }
                outgoing = Array(piece[..<count])[...]
            }
        }
    }
}
