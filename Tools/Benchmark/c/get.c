/* The floor of `vault get`: opens a file, reads one box, opens it, writes it out. Fully static C, and no more
 * than libsodium's own start.
 *
 *   get make FILE   writes FILE: a nonce and the box of a 40-byte value, padded to 48
 *   get FILE        prints the value */
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

enum { value = 40, padded = 48, box = padded + crypto_secretbox_MACBYTES, whole = crypto_secretbox_NONCEBYTES + box };

/* The key stands here: that reading a key file costs the vault something is part of what is measured. */
static const unsigned char key[crypto_secretbox_KEYBYTES] = "not a secret";

static int make(const char *path) {
    unsigned char file[whole], text[padded] = {0};
    memset(text, 'v', value);
    randombytes_buf(file, crypto_secretbox_NONCEBYTES);
    if (crypto_secretbox_easy(file + crypto_secretbox_NONCEBYTES, text, padded, file, key) != 0) return 1;
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return descriptor < 0 || write(descriptor, file, whole) != whole || fsync(descriptor) != 0;
}

int main(int count, char **arguments) {
    if (count < 2 || sodium_init() < 0) return 1;
    if (count == 3) return make(arguments[2]);
    unsigned char file[whole], text[padded];
    int descriptor = open(arguments[1], O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || pread(descriptor, file, whole, 0) != whole) return 1;
    if (crypto_secretbox_open_easy(text, file + crypto_secretbox_NONCEBYTES, box, file, key) != 0) return 1;
    return write(STDOUT_FILENO, text, value) != value;
}
