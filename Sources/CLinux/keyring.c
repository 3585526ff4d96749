#define _GNU_SOURCE
#include "keyring.h"
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char type[] = "user";

// syscall(2) passes whole registers, so each argument is as wide as a register.
static long control(long operation, int32_t key, unsigned long second, unsigned long third, unsigned long fourth) {
    return syscall(SYS_keyctl, operation, (long)key, second, third, fourth);
}

int32_t vault_key_add(const char *description, const void *secret, uint64_t count) {
    return (int32_t)syscall(SYS_add_key, type, description, secret, count, (long)KEY_SPEC_THREAD_KEYRING);
}

int vault_key_forget(int32_t key) {
    return vault_key_unlink(key, KEY_SPEC_THREAD_KEYRING);
}

int vault_key_set_timeout(int32_t key, uint32_t seconds) {
    return (int)control(KEYCTL_SET_TIMEOUT, key, seconds, 0, 0);
}

int vault_key_set_permissions(int32_t key, uint32_t permissions) {
    return (int)control(KEYCTL_SETPERM, key, permissions, 0, 0);
}

int32_t vault_keyring_of_session(void) {
    return (int32_t)control(KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0, 0, 0);
}

int32_t vault_keyring_of_user(void) {
    return (int32_t)control(KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 0, 0, 0);
}

int vault_key_link(int32_t key, int32_t keyring) {
    return (int)control(KEYCTL_LINK, key, (unsigned long)keyring, 0, 0);
}

int vault_key_unlink(int32_t key, int32_t keyring) {
    return (int)control(KEYCTL_UNLINK, key, (unsigned long)keyring, 0, 0);
}

int32_t vault_key_search(int32_t keyring, const char *description) {
    return (int32_t)control(KEYCTL_SEARCH, keyring, (unsigned long)type, (unsigned long)description, 0);
}

int64_t vault_key_read(int32_t key, void *buffer, uint64_t count) {
    return control(KEYCTL_READ, key, (unsigned long)buffer, count, 0);
}

int64_t vault_key_describe(int32_t key, void *buffer, uint64_t count) {
    return control(KEYCTL_DESCRIBE, key, (unsigned long)buffer, count, 0);
}

int vault_key_invalidate(int32_t key) {
    return (int)control(KEYCTL_INVALIDATE, key, 0, 0, 0);
}

int vault_key_revoke(int32_t key) {
    return (int)control(KEYCTL_REVOKE, key, 0, 0, 0);
}
