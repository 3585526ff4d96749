private import CLinux
private import Glibc

/// A connection to another process on this machine, through a socket in the file system.
package struct LocalSocket: ~Copyable {
    private let descriptor: FileDescriptor

    package init(connectingTo path: String) throws(SystemError) {
        descriptor = FileDescriptor(owning: vault_connect_local(path))
        guard descriptor.number >= 0 else { throw SystemError(errno, "connect") }
    }

    package var peer: LocalPeer { get throws(SystemError) { try LocalPeer(of: descriptor.number) } }

    package func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let sent = Glibc.send(descriptor.number, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
            if sent < 0, errno != EINTR { throw SystemError(errno, "send") }
            rest = rest.dropFirst(max(sent, 0))
        }
    }

    /// Receives `count` bytes, or fewer if the peer closes the connection first.
    package func receive(_ count: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var part = [UInt8](repeating: 0, count: count - bytes.count)
            let received = recv(descriptor.number, &part, part.count, 0)
            if received == 0 { break }
            if received < 0, errno != EINTR { throw SystemError(errno, "receive") }
            bytes += part.prefix(max(received, 0))
        }
        return bytes
    }
}

package struct LocalPeer: Hashable, Sendable {
    /// The address to which the peer is bound. An address outside the file system begins with a zero byte.
    package let address: [UInt8]
    package let user: UInt32

    /// - Throws: ``SystemError`` if the descriptor is not a local socket, or is not connected.
    package init(of descriptor: Int32) throws(SystemError) {
        var peer = vault_local_peer()
        guard vault_get_peer(descriptor, &peer) == 0 else { throw SystemError(errno, "inspect") }
        user = peer.user
        address = withUnsafeBytes(of: peer.name) { Array($0.prefix(peer.name_size)) }
    }
}
