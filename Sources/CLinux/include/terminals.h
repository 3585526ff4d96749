// Functions that open pseudo-terminals and the devices of terminals.
#pragma once
#include <stdint.h>

/// Opens a new pseudo-terminal and returns the descriptor of its master (pty(7)); -1, with errno, if that fails.
///
/// - Parameter path: a buffer of `size` bytes for the path of its slave.
int vault_open_terminal(char *_Nonnull path, uint64_t size);

/// Opens a terminal's device under its usual path, such as `/dev/pts/1`, so that a lock on it locks only this terminal.
/// `/dev/tty`, in contrast, is one file for all terminals. Returns -1 if no path opens this terminal.
int vault_open_terminal_device(int terminal);

/// Returns whether `descriptor` refers to the same terminal as `terminal`, and is open for writing.
int vault_is_same_terminal(int descriptor, int terminal);
