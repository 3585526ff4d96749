// The one door to libsodium; only the module `Sealing` goes through it.
#include <sodium.h>
