#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int vault_connect_local(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int vault_get_peer(int descriptor, struct vault_local_peer *peer) {
    struct sockaddr_un address = {.sun_family = AF_UNSPEC};
    socklen_t size = sizeof address;
    if (getpeername(descriptor, (struct sockaddr *)&address, &size) != 0) return -1;
    if (address.sun_family != AF_UNIX) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    size_t start = offsetof(struct sockaddr_un, sun_path);
    // The kernel reports the address's full size, even if the buffer is too small for it.
    size_t count = size > start ? size - start : 0;
    peer->name_size = count < sizeof peer->name ? count : sizeof peer->name;
    memcpy(peer->name, address.sun_path, peer->name_size);
    struct ucred credentials;
    socklen_t credentials_size = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &credentials_size) != 0) return -1;
    peer->user = credentials.uid;
    return 0;
}

int vault_split_socket(int socket, int *inner) {
    int ends[2];
    int outer = fcntl(socket, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (outer < 0) return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0) {
        int moved = dup3(ends[1], socket, O_CLOEXEC);
        int error = errno;
        close(ends[1]);
        if (moved >= 0) {
            *inner = ends[0];
            return outer;
        }
        close(ends[0]);
        errno = error;
    }
    int error = errno;
    close(outer);
    errno = error;
    return -1;
}

int vault_bytes_waiting(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) == 0 ? count : 0;
}
