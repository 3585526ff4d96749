// What the command must do before any Swift code runs, and starting another program with this one's own arguments.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Restores `SWIFT_BACKTRACE` as it was when the process started, so that programs which the command starts do not
/// inherit the command's own setting.
void vault_restore_environment(void);

/// Returns a line for each package whose archives the executable is linked from: its name and version, and those of its
/// source. Empty if the build does not say it.
const char *_Nonnull vault_linked_libraries(void);

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

/// Streams of a child that are no descriptors.
enum {
    VAULT_STREAM_SAME = -1,
    VAULT_STREAM_CLOSED = -2,
    /// The terminal that the child opens.
    VAULT_STREAM_TERMINAL = -3,
};

/// How a child begins. Signals are sets whose bit N - 1 is signal N.
struct vault_child {
    /// The first of the arguments that are its words.
    int first;
    /// A terminal, for a new session of which it becomes the controlling one.
    const char *_Nullable terminal;
    /// The descriptors that become its standard streams.
    int input, output, error;
    uint64_t blocked, defaults, ignored;
};

/// Starts a program, which the kernel kills if this process ends before it. Returns 0, or why it failed. To be called
/// while no signal is handled.
int vault_spawn(const struct vault_child *_Nonnull child, int *_Nonnull process);
