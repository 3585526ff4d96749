// expat. Only `XMLReader.swift` in the module `PropertyList` imports it.
#include <expat.h>
