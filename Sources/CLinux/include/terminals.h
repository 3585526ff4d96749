// Opens pseudo-terminals and the devices of terminals.
#pragma once
#include <stdint.h>

/// Opens a new pseudo-terminal and returns the descriptor of its outer side; -1, with errno, if that fails.
///
/// - Parameter path: memory for the path of its inner side.
int vault_open_terminal(char *_Nonnull path, uint64_t size);

/// Opens the device of a terminal under its usual path, so that its locks can be used. Returns -1 if that is not
/// allowed, or if the path leads to no terminal or to another one. `/dev/tty` itself is one file for all terminals.
int vault_open_terminal_device(int terminal);

/// Returns whether a descriptor is open for writing to the same terminal.
int vault_is_same_terminal(int descriptor, int terminal);
