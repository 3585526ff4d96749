// What the command has to do before any code of Swift's runs.
#pragma once

/// Puts `SWIFT_BACKTRACE` back as it was when the process was started: nothing of what the command sets for itself is
/// handed on to a program that it starts.
void vault_restore_environment(void);
