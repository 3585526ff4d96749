#define _GNU_SOURCE
#include "CLinux.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int vault_wipe_file(int descriptor) {
    static const char zeros[4096];
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -1;
    for (off_t offset = 0; offset < status.st_size; offset += sizeof zeros) {
        // The last write may extend the file to a whole page, which a file system in memory has already allocated.
        if (pwrite(descriptor, zeros, sizeof zeros, offset) < 0) return -1;
    }
    return 0;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *position) {
    (void)kind, (void)position;
    if (S_ISREG(status->st_mode)) {
        int descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
        if (descriptor >= 0) {
            vault_wipe_file(descriptor);
            close(descriptor);
        }
    }
    // If removing the entry fails, the walk continues, so that it removes everything else.
    remove(path);
    return 0;
}

int vault_wipe_folder(const char *path) {
    nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return access(path, F_OK) == 0 ? -1 : 0;
}
