#include "CVaultTesting.h"
#include "CLinux.h"

// A program that links the test support is a test. The constructor marks it before any Swift code runs.
__attribute__((constructor)) static void mark(void) {
    vault_set_under_test();
}
