#define _GNU_SOURCE
#include "CVaultCommand.h"
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int vault_put_variables(const char *block, size_t count) {
    for (size_t place = 0; place < count; place += strlen(block + place) + 1)
        if (putenv((char *)block + place) != 0) return errno;
    return 0;
}

void vault_take_variables_back(const char *block, size_t count) {
    for (size_t place = 0; place < count; place += strlen(block + place) + 1) {
        char *name = strndup(block + place, strcspn(block + place, "="));
        if (name) unsetenv(name);
        free(name);
    }
}

int vault_execute(int first) {
    char *const *words = vault_arguments(first);
    execvp(words[0], words);
    return errno;
}

int vault_execute_instead(const char *path) {
    execv(path, vault_arguments(0));
    return errno;
}

int vault_spawn(int first, const void *actions, const void *attributes, int *process) {
    char *const *words = vault_arguments(first);
    return posix_spawnp(process, words[0], actions, attributes, words, environ);
}
