// What the processor can do is asked by an instruction that a virtual machine has to emulate. The C library has asked
// already; libsodium and nettle would ask anew, which takes a thirtieth of the time of `vault get`.
//
// These replace the files of the two libraries that ask. They are weak: a later version that needs more of its own file
// gets it undisturbed.

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)

#include <stdint.h>
#include <string.h>
#include <sys/platform/x86.h>

#define ANSWER(name, FEATURE) \
    __attribute__((weak)) int sodium_runtime_has_##name(void) { return CPU_FEATURE_ACTIVE(FEATURE); }

ANSWER(sse2, SSE2)
ANSWER(sse3, SSE3)
ANSWER(ssse3, SSSE3)
ANSWER(sse41, SSE4_1)
ANSWER(avx, AVX)
ANSWER(avx2, AVX2)
ANSWER(avx512f, AVX512F)
ANSWER(pclmul, PCLMULQDQ)
ANSWER(aesni, AES)
ANSWER(rdrand, RDRAND)

__attribute__((weak)) int sodium_runtime_has_neon(void) { return 0; }

__attribute__((weak)) int _sodium_runtime_get_cpu_features(void) { return 0; }

// nettle hashes for one-time codes: a few blocks, for which it needs no special instructions.
__attribute__((weak)) void _nettle_cpuid(uint32_t leaf, uint32_t registers[4]) {
    (void)leaf;
    memset(registers, 0, 4 * sizeof *registers);
}

#endif
