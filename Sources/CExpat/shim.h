// The one door to expat; only `Expat.swift` in the module `PropertyList` goes through it.
#include <expat.h>
