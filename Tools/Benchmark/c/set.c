/* The floor of `vault set`: the cheapest durable write there is, of about the bytes of one record. Fully static C.
 *
 *   set make FILE COUNT   writes FILE: zeros for COUNT records
 *   set FILE ROUND        writes record ROUND over its zeros, and waits until it is on the disk */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { record = 256 };

/* Zeros that are written, not only allocated: the first write to an allocated block changes the file's extents,
 * which costs a journal commit. */
static int make(const char *path, long count) {
    static const char zeros[record];
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor < 0) return 1;
    for (long index = 0; index < count; index++)
        if (write(descriptor, zeros, record) != record) return 1;
    return fsync(descriptor) != 0;
}

int main(int count, char **arguments) {
    if (count == 4) return make(arguments[2], atol(arguments[3]));
    if (count != 3) return 1;
    char bytes[record];
    memset(bytes, 'r', record);
    int descriptor = open(arguments[1], O_WRONLY | O_CLOEXEC);
    if (descriptor < 0 || pwrite(descriptor, bytes, record, atol(arguments[2]) * record) != record) return 1;
    return fdatasync(descriptor) != 0;
}
