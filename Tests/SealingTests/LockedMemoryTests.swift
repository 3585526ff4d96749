import CTestSupport
import Foundation
import Sealing
import TestSupport
import Testing

/// Each test changes limits of its process that it cannot restore, so each runs in a process of its own.
@Suite("Locked memory")
struct LockedMemoryTests {
    private static let nobody: uid_t = 65_534

    @Test func secretsAreLockedWithinTheLimit() async {
        await #expect(processExitsWith: .success) {
            let secret = try SecretBytes(zeros: 32)
            let isLocked = secret.isLockedInMemory
            #expect(isLocked)
        }
    }

    @Test(
        .disabled(
            if: Sanitizer.isAddress,
            "the address sanitizer makes mlock do nothing, so no limit is ever met"))
    func secretsPastTheLimitWorkAndSayThatTheyAreNotLocked() async {
        await #expect(processExitsWith: .success) {
            try #require(test_limit_locked_memory(256 << 10) == 0)
            // Root may lock without limit.
            if geteuid() == 0 { try #require(setuid(LockedMemoryTests.nobody) == 0) }
            var states: [Bool] = []
            try LockedMemoryTests.nest(2_000) { states.append($0) }
            #expect(states.first == true)
            #expect(states.last == false)
        }
    }

    /// One that shares memory, the largest that does, and those that have pages of their own.
    @Test(
        .disabled(
            if: Sanitizer.isAddress,
            "the address sanitizer makes mlock do nothing, so no limit is ever met"))
    func withoutAnyLockedMemorySecretsOfAllSizesWork() async {
        await #expect(processExitsWith: .success) {
            try #require(test_limit_locked_memory(0) == 0)
            if geteuid() == 0 { try #require(setuid(LockedMemoryTests.nobody) == 0) }
            for (size, isKey) in [(16, false), (16, true), (4_096, false), (4_097, false), (1 << 20, false)] {
                let bytes = RandomBytes.array(size)
                var secret = try SecretBytes(zeros: size, isKey: isKey)
                secret.withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
                let isLocked = secret.isLockedInMemory
                #expect(!isLocked, "\(size) bytes")
                let kept = secret.unsafeArray()
                #expect(kept == bytes, "\(size) bytes")
            }
        }
    }

    /// Creates secrets that exist at the same time, checks each, and reports whether it is locked.
    private static func nest(_ depth: Int, _ tell: (Bool) -> Void) throws {
        guard depth > 0 else { return }
        let bytes = RandomBytes.array(100)
        let secret = try SecretBytes(copyOf: bytes)
        tell(secret.isLockedInMemory)
        try nest(depth - 1, tell)
        #expect(secret.unsafeArray() == bytes)
    }
}
