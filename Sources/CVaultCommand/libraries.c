#include "CVaultCommand.h"

// This is weak: the release build links an object with the answer, which Tools/lib/libraries.sh creates.
__attribute__((weak)) const char *vault_linked_libraries(void) { return ""; }
