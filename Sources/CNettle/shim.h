// nettle. Only `HMAC.swift` in the module `OneTimeCode` imports it.
#include <nettle/hmac.h>
