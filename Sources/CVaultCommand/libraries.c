#include "CVaultCommand.h"

// In a release build, an object file from Tools/lib/libraries.sh overrides this weak definition.
__attribute__((weak)) const char *vault_linked_libraries(void) { return ""; }
