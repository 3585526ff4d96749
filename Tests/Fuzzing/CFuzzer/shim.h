#include <stddef.h>
#include <stdint.h>

/// libFuzzer's entry for programs with a `main` of their own; the builds of Tools/fuzz have it.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
