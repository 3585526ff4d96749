import CSodium
import Foundation
import TestSupport
import Testing

@Suite struct ProcessorTests {
    #if arch(x86_64)
        /// The command answers libsodium's questions in place of libsodium.
        @Test func libsodiumLearnsWhatTheKernelSaysOfTheProcessor() throws {
            let text = try kernelText("/proc/cpuinfo")
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("flags") })
            let flags = Set(line.split(separator: " ").map(String.init))
            for (answer, flag) in [
                (sodium_runtime_has_sse2(), "sse2"), (sodium_runtime_has_sse3(), "pni"),
                (sodium_runtime_has_ssse3(), "ssse3"), (sodium_runtime_has_sse41(), "sse4_1"),
                (sodium_runtime_has_avx(), "avx"), (sodium_runtime_has_avx2(), "avx2"),
                (sodium_runtime_has_avx512f(), "avx512f"), (sodium_runtime_has_pclmul(), "pclmulqdq"),
                (sodium_runtime_has_aesni(), "aes"), (sodium_runtime_has_rdrand(), "rdrand"),
            ] {
                #expect((answer != 0) == flags.contains(flag), "\(flag)")
            }
        }
    #endif
}
