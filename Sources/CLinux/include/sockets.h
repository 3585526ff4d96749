// Functions for sockets between processes on one machine (AF_UNIX).
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Connects to the socket at a path. Returns a descriptor that other programs do not inherit; -1, with errno, if that
/// fails.
int vault_connect_local(const char *_Nonnull path);

struct vault_local_peer {
    /// The address of the peer's socket; empty if the socket is unbound. An abstract address begins with a zero byte.
    uint8_t name[108];
    size_t name_size;
    /// The user ID of the peer.
    uint32_t user;
};

/// Queries the peer of a connected socket. Returns -1, with errno, if that fails. ENOTSOCK means that the descriptor is
/// not a socket, and EAFNOSUPPORT that it is not a local socket.
int vault_get_peer(int descriptor, struct vault_local_peer *_Nonnull peer);

/// Makes the descriptor of a connected socket refer to one end of a new socket pair instead. Returns a new descriptor
/// for the connected socket; -1, with errno, if that fails.
///
/// - Parameter inner: receives the descriptor of the pair's other end.
int vault_split_socket(int socket, int *_Nonnull inner);

/// Returns the number of bytes that can be read from a socket without waiting, by ioctl(2) with FIONREAD.
int vault_bytes_waiting(int descriptor);
