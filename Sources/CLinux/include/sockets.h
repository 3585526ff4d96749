// Sockets between the processes of one machine (AF_UNIX).
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Connects to the socket at a path. Returns a descriptor that other programs do not inherit; -1, with errno, if that
/// fails.
int vault_connect_local(const char *_Nonnull path);

struct vault_local_peer {
    /// The address that the other end has bound. An abstract one begins with a zero byte; an unbound one is empty.
    uint8_t name[108];
    size_t name_size;
    /// The user who has connected.
    uint32_t user;
};

/// Looks at the other end of a connected socket. Returns -1, with errno, if that fails: ENOTSOCK for what is no socket,
/// EAFNOSUPPORT for one of another kind.
int vault_look_at_peer(int descriptor, struct vault_local_peer *_Nonnull peer);

/// Puts one end of a new pair of sockets in the place of a connected socket, under its number. Returns a descriptor of
/// that socket; -1, with errno, if that fails.
///
/// - Parameter inner: is set to the other end of the pair.
int vault_split_socket(int socket, int *_Nonnull inner);

/// Returns how many bytes of a socket can be read at once, by ioctl(2) with FIONREAD.
int vault_bytes_waiting(int descriptor);
