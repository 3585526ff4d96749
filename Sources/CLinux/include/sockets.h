// Sockets between the processes of one machine (AF_UNIX).
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Connects to the socket at a path. Returns a descriptor that other programs do not inherit; -1, with errno, if that
/// fails.
int vault_connect_local(const char *_Nonnull path);

struct vault_local_peer {
    /// The address that the other end is bound to. An abstract one begins with a zero byte; an unbound one is empty.
    uint8_t name[108];
    size_t name_size;
    /// The user at the other end.
    uint32_t user;
};

/// Inspects the other end of a connected socket. Returns -1, with errno, if that fails: ENOTSOCK if the descriptor is
/// no socket, EAFNOSUPPORT for a socket of another kind.
int vault_get_peer(int descriptor, struct vault_local_peer *_Nonnull peer);

/// Replaces a connected socket, under its number, by one end of a new pair of sockets. Returns a new descriptor of the
/// connected socket; -1, with errno, if that fails.
///
/// - Parameter inner: receives the other end of the pair.
int vault_split_socket(int socket, int *_Nonnull inner);

/// Returns the number of bytes that can be read from a socket at once, by ioctl(2) with FIONREAD.
int vault_bytes_waiting(int descriptor);
