// The system calls of keyrings(7), which the C library does not declare. Keys and keyrings have serial numbers.
// Negative numbers stand for special keyrings, such as the calling thread's.
#pragma once
#include <stdint.h>

/// Adds a key of the type "user" to the calling thread's keyring, which exists until the thread ends. Returns the key's
/// serial number; -1, with errno, if that fails.
int32_t vault_key_add(const char *_Nonnull description, const void *_Nullable secret, uint64_t count);

/// Removes a key from the calling thread's keyring.
int vault_key_forget(int32_t key);

/// Sets the number of seconds after which a key expires; 0 means never. This function and those below return -1, with
/// errno, if they fail.
int vault_key_set_timeout(int32_t key, uint32_t seconds);

/// Sets the permissions of the key's possessor, its user, its group and others, as in keyctl_setperm(3).
int vault_key_set_permissions(int32_t key, uint32_t permissions);

/// The next two functions return the serial numbers of the session's and the user's keyring. They start no session.
int32_t vault_keyring_of_session(void);
int32_t vault_keyring_of_user(void);

/// Links a key to a keyring, where it replaces any other key of the same type and description.
int vault_key_link(int32_t key, int32_t keyring);

int vault_key_unlink(int32_t key, int32_t keyring);

/// Returns the serial number of the "user" key with this description, in a keyring or in those linked to it.
int32_t vault_key_search(int32_t keyring, const char *_Nonnull description);

/// Reads a key's secret, or the serial numbers of a keyring's keys. Returns the total size in bytes. If that is more
/// than `count`, the buffer contains only some of the bytes, or none.
int64_t vault_key_read(int32_t key, void *_Nullable buffer, uint64_t count);

/// Reads a key's properties as "type;user;group;permissions;description" and a zero byte. Returns the size as
/// ``vault_key_read`` does.
int64_t vault_key_describe(int32_t key, void *_Nullable buffer, uint64_t count);

/// Removes a key from every keyring.
int vault_key_invalidate(int32_t key);

/// Makes a key unusable, and wipes its secret.
int vault_key_revoke(int32_t key);
