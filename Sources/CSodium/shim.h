// libsodium. Only the module `Sealing` imports it.
#include <sodium.h>

/// Zeroes the vector registers, in which libsodium leaves parts of keys and plaintexts. Otherwise the dynamic
/// linker, when it binds a function, or the kernel, when it delivers a signal, would save the registers on the stack.
/// Compilers themselves clear the upper halves of wider registers at the end of each function that uses them.
static inline void vault_clear_vector_registers(void) {
#if defined(__x86_64__)
    __asm__ volatile(
        "pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n pxor %%xmm3, %%xmm3\n"
        "pxor %%xmm4, %%xmm4\n pxor %%xmm5, %%xmm5\n pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7\n"
        "pxor %%xmm8, %%xmm8\n pxor %%xmm9, %%xmm9\n pxor %%xmm10, %%xmm10\n pxor %%xmm11, %%xmm11\n"
        "pxor %%xmm12, %%xmm12\n pxor %%xmm13, %%xmm13\n pxor %%xmm14, %%xmm14\n pxor %%xmm15, %%xmm15\n"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
          "xmm13", "xmm14", "xmm15");
#elif defined(__aarch64__)
    // The lower halves of v8 to v15 belong to the caller and must be preserved.
    __asm__ volatile(
        "movi v0.2d, #0\n movi v1.2d, #0\n movi v2.2d, #0\n movi v3.2d, #0\n movi v4.2d, #0\n movi v5.2d, #0\n"
        "movi v6.2d, #0\n movi v7.2d, #0\n movi v16.2d, #0\n movi v17.2d, #0\n movi v18.2d, #0\n movi v19.2d, #0\n"
        "movi v20.2d, #0\n movi v21.2d, #0\n movi v22.2d, #0\n movi v23.2d, #0\n movi v24.2d, #0\n movi v25.2d, #0\n"
        "movi v26.2d, #0\n movi v27.2d, #0\n movi v28.2d, #0\n movi v29.2d, #0\n movi v30.2d, #0\n movi v31.2d, #0\n"
        :
        :
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
          "v25", "v26", "v27", "v28", "v29", "v30", "v31");
#endif
}
