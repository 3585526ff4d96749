#include "CVaultTesting.h"
#include "CLinux.h"

// Every program that links this test support counts as a test. The constructor marks it before any Swift code runs.
__attribute__((constructor)) static void mark(void) {
    vault_set_under_test();
}
