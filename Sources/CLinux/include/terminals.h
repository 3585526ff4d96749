// Terminals: opening pseudo-terminals, and whose turn it is at one.
#pragma once
#include <stdint.h>

/// Opens a new pseudo-terminal, and returns the descriptor of its outer side; -1, with errno, if that fails.
///
/// - Parameter path: memory for the path of its inner side.
int vault_open_terminal(char *_Nonnull path, uint64_t size);

/// Opens the device of a terminal for its locks, by the path that it usually has; -1 if that is not allowed, or leads
/// to no terminal or to another one. `/dev/tty` itself is one file for all terminals.
int vault_open_terminal_device(int terminal);

/// Whether a descriptor is of the same terminal, and open for writing.
int vault_is_same_terminal(int descriptor, int terminal);

/// Locks or releases one byte of a file, by fcntl(2), without waiting; -1, with errno, if that fails.
///
/// - Parameters:
///   - kind: F_WRLCK, F_RDLCK or F_UNLCK.
///   - isOfProcess: whether the lock is this process's, for a descriptor that other processes share; otherwise it is of
///     the open file.
int vault_lock_terminal(int descriptor, int64_t offset, int kind, int isOfProcess);

/// Whether another one has locked a byte, in whatever way.
int vault_is_terminal_locked(int descriptor, int64_t offset, int isOfProcess);
