// expat. Only `Expat.swift` in the module `PropertyList` imports it.
#include <expat.h>
