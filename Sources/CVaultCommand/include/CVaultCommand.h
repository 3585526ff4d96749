// Work that must be done before any Swift code runs, and starting another program with arguments of this one.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Restores `SWIFT_BACKTRACE` as it was when the process started, so that programs started by the command do not
/// inherit its own setting.
void vault_restore_environment(void);

/// Returns a line for each package from whose archives the executable is linked: its name and version, and those of its
/// source. The text is empty if the build does not provide it.
const char *_Nonnull vault_linked_libraries(void);

/// Returns one of the process's arguments; null past the last one.
const char *_Nullable vault_argument(int index);

/// Returns the process's arguments from an index on, at which there must be one. A null follows the last.
char *const _Nullable *_Nonnull vault_arguments(int first);

/// Adds variables to the environment, by putenv(3), and replaces those of the same names. Nothing is copied: the block
/// must stay at its address until ``vault_remove_variables``. Returns 0 or an error number.
///
/// - Parameter block: texts `NAME=VALUE`, each with a zero byte at its end.
int vault_put_variables(const char *_Nonnull block, size_t count);

/// Removes the variables of such a block from the environment.
void vault_remove_variables(const char *_Nonnull block, size_t count);

/// Replaces this program by the one named in the arguments from `first` on, by execvp(3). Returns an error number.
int vault_execute(int first);

/// Replaces this program by the one at a path, with all of its arguments, by execv(3). Returns an error number.
int vault_execute_instead(const char *_Nonnull path);

/// Numbers for a child's streams that are not descriptors.
enum {
    VAULT_STREAM_SAME = -1,
    VAULT_STREAM_CLOSED = -2,
    /// The terminal that the child opens.
    VAULT_STREAM_TERMINAL = -3,
};

/// The initial state of a child. In a set of signals, bit N - 1 is signal N.
struct vault_child {
    /// The index of the argument that names the program; its own arguments follow.
    int first;
    /// The path of a terminal, which becomes the controlling terminal of a new session; null for neither.
    const char *_Nullable terminal;
    /// The descriptors that become its standard streams.
    int input, output, error;
    uint64_t blocked, defaults, ignored;
};

/// Starts a program, which the kernel kills if this process ends first. Returns 0 or an error number. Call it while no
/// signal is handled.
int vault_spawn(const struct vault_child *_Nonnull child, int *_Nonnull process);
