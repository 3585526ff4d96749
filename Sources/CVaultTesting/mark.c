#include "CVaultTesting.h"
#include "CLinux.h"

// Every program that links this target is a test. The constructor marks the process before any Swift code runs.
__attribute__((constructor)) static void mark(void) {
    vault_set_under_test();
}
