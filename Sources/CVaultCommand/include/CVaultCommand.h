// What the command must do before any Swift code runs, and starting another program with this one's own arguments.
#pragma once
#include <stddef.h>

/// Restores `SWIFT_BACKTRACE` as it was when the process started, so that programs which the command starts do not
/// inherit the command's own setting.
void vault_restore_environment(void);

/// Returns one of the process's arguments; null past the last.
const char *_Nullable vault_argument(int index);

/// Returns the process's arguments from one on, which must exist, and a null at their end.
char *const _Nullable *_Nonnull vault_arguments(int first);

/// Puts variables into the environment, by putenv(3), in place of those of the same names. Nothing is copied: the block
/// must stay where it is until ``vault_take_variables_back``. Returns 0, or why it failed.
///
/// - Parameter block: one `NAME=VALUE` after the other, each with a zero byte at its end.
int vault_put_variables(const char *_Nonnull block, size_t count);

/// Removes the variables of such a block from the environment.
void vault_take_variables_back(const char *_Nonnull block, size_t count);

/// Replaces this program by the one that the arguments name from `first` on, by execvp(3). Returns why it failed.
int vault_execute(int first);

/// Replaces this program by the one at a path, with all of its arguments, by execv(3). Returns why it failed.
int vault_execute_instead(const char *_Nonnull path);

/// Starts the program that the arguments name from `first` on, by posix_spawnp(3). Returns 0, or why it failed.
///
/// - Parameters:
///   - actions: a posix_spawn_file_actions_t.
///   - attributes: a posix_spawnattr_t.
int vault_spawn(
    int first, const void *_Nonnull actions, const void *_Nonnull attributes, int *_Nonnull process);
