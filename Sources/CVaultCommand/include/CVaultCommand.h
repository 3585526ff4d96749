// Setup before any Swift code runs, and functions that start another program with this program's arguments.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Restores the value that `SWIFT_BACKTRACE` had when the process started, so that the programs that the command starts
/// do not inherit the command's setting.
void vault_restore_environment(void);

/// Returns the packages whose static libraries are part of the executable, one per line, each with the name and version
/// of the package and of its source. Returns an empty text if the build does not provide this list.
const char *_Nonnull vault_linked_libraries(void);

/// Returns the process's argument at an index; null if there is none.
const char *_Nullable vault_argument(int index);

/// Returns the process's arguments from the valid index `first` on, followed by a null.
char *const _Nullable *_Nonnull vault_arguments(int first);

/// Adds variables to the environment, by putenv(3), and replaces variables of the same names. The environment refers to
/// the block, which must therefore stay at its address until ``vault_remove_variables``. Returns 0 or an error number.
///
/// - Parameter block: texts of the form `NAME=VALUE`, each followed by a zero byte.
int vault_put_variables(const char *_Nonnull block, size_t count);

/// Removes the variables that ``vault_put_variables`` has added from the same block.
void vault_remove_variables(const char *_Nonnull block, size_t count);

/// Replaces this program with the program that the argument at `first` names, by execvp(3). The new program's arguments
/// are those from `first` on. Returns an error number if that fails.
int vault_execute(int first);

/// Replaces this program with the file at a path, by execv(3), with all arguments. Returns an error number on failure.
int vault_execute_instead(const char *_Nonnull path);

/// Special values for a child's streams, in place of descriptors.
enum {
    VAULT_STREAM_SAME = -1,
    VAULT_STREAM_CLOSED = -2,
    /// The terminal that the child opens.
    VAULT_STREAM_TERMINAL = -3,
};

/// The settings with which a child starts. In a set of signals, bit N - 1 stands for signal N.
struct vault_child {
    /// The index of this process's argument that names the program. The arguments after it are passed to the program.
    int first;
    /// The path of the terminal that becomes the controlling terminal of a new session; null for no new session.
    const char *_Nullable terminal;
    /// The descriptors that become the child's standard streams, or special values.
    int input, output, error;
    uint64_t blocked, defaults, ignored;
};

/// Starts a program, which the kernel kills if this process ends first. Returns 0 or an error number. No signal handler
/// may run during the call.
int vault_spawn(const struct vault_child *_Nonnull child, int *_Nonnull process);
