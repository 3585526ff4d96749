// What the command must do before any Swift code runs.
#pragma once

/// Restores `SWIFT_BACKTRACE` as it was when the process started, so that programs which the command starts do not
/// inherit the command's own setting.
void vault_restore_environment(void);

/// Returns one of the process's arguments; null past the last.
const char *_Nullable vault_argument(int index);
