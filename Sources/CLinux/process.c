#define _GNU_SOURCE
#include "CLinux.h"
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

// If the process runs tests, a constructor sets this flag before a second thread exists.
static int is_under_test;

const char *vault_program_path(void) {
    return (const char *)getauxval(AT_EXECFN);
}

// `vault_forbid_core_dumps` sets these variables once, before a second thread exists.
static struct rlimit former_core_limit;
static int has_forbidden_core_dumps;

void vault_forbid_core_dumps(void) {
    if (getrlimit(RLIMIT_CORE, &former_core_limit) != 0) return;
    struct rlimit none = {.rlim_cur = 0, .rlim_max = former_core_limit.rlim_max};
    has_forbidden_core_dumps = setrlimit(RLIMIT_CORE, &none) == 0;
}

void vault_permit_core_dumps(int32_t process) {
    if (has_forbidden_core_dumps) prlimit(process, RLIMIT_CORE, &former_core_limit, 0);
}

int vault_spawn_apart(void *actions, int16_t *flags) {
    *flags |= POSIX_SPAWN_SETSID;
    return posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
}

void vault_set_under_test(void) {
    is_under_test = 1;
}

int vault_is_under_test(void) {
    return is_under_test;
}
