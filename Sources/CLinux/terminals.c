#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int vault_open_terminal(char *path, uint64_t size) {
    int outer = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (outer < 0) return -1;
    int error = grantpt(outer) != 0 || unlockpt(outer) != 0 ? errno : ptsname_r(outer, path, size);
    if (error == 0) return outer;
    close(outer);
    errno = error;
    return -1;
}

// Returns the device number of an open terminal, even if it was opened as /dev/tty; 0 if that fails.
static dev_t device_of(int terminal) {
    unsigned device = 0;
    return ioctl(terminal, TIOCGDEV, &device) == 0 ? device : 0;
}

int vault_is_same_terminal(int descriptor, int terminal) {
    struct stat status;
    dev_t device = device_of(terminal);
    int mode = fcntl(descriptor, F_GETFL);
    return device != 0 && mode >= 0 && (mode & O_ACCMODE) != O_RDONLY && fstat(descriptor, &status) == 0
        && S_ISCHR(status.st_mode) && status.st_rdev == device;
}

int vault_open_terminal_device(int terminal) {
    dev_t device = device_of(terminal);
    if (device == 0) return -1;
    char path[PATH_MAX];
    // Major number 136 stands for Unix98 pseudo-terminals. The names of other terminals are in /sys.
    if (major(device) == 136) {
        snprintf(path, sizeof path, "/dev/pts/%u", minor(device));
    } else {
        char link[64], target[PATH_MAX];
        snprintf(link, sizeof link, "/sys/dev/char/%u:%u", major(device), minor(device));
        ssize_t count = readlink(link, target, sizeof target - 1);
        if (count < 0) return -1;
        target[count] = 0;
        const char *name = strrchr(target, '/');
        if ((size_t)snprintf(path, sizeof path, "/dev/%s", name ? name + 1 : target) >= sizeof path) return -1;
    }
    int descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0 || vault_is_same_terminal(descriptor, terminal)) return descriptor;
    close(descriptor);
    return -1;
}
