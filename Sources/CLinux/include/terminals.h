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
