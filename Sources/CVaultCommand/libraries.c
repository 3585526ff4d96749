#include "CVaultCommand.h"

// Weak: the release build links an object that knows the answer, which Tools/lib/libraries.sh makes.
__attribute__((weak)) const char *vault_linked_libraries(void) { return ""; }
