import CTestSupport
import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing
import VaultTesting

/// Secrets of up to 4 KiB share guarded memory. Sizes and orders are random, from a seed that a failure prints.
@Suite("Shared guarded memory")
struct SecretArenaTests {
    /// A secret in an array: secrets themselves cannot be copied into one.
    private final class Box: Sendable {
        let secret: SecretBytes
        let bytes: [UInt8]

        init(_ bytes: [UInt8]) throws {
            secret = try SecretBytes(copyOf: bytes)
            self.bytes = bytes
        }

        var holds: Bool {
            let isPadded = secret.withPaddedBytes { $0[bytes.count...].allSatisfy { $0 == 0 } }
            return isPadded && secret.unsafeArray() == bytes
        }
    }

    @Test(arguments: 0..<8) func secretsKeepTheirBytesWhileOthersComeAndGo(seed: Int) throws {
        var random = SeededGenerator(seed)
        var boxes: [Box] = []
        for step in 0..<3_000 {
            // Grows to some thousands of secrets, then shrinks to none.
            if Int.random(in: 0..<3_000, using: &random) > step {
                let largest = [40, 300, 4_096].randomElement(using: &random) ?? 40
                boxes.append(try Box(random.bytes(Int.random(in: 0...largest, using: &random))))
            } else if !boxes.isEmpty {
                let box = boxes.remove(at: Int.random(in: boxes.indices, using: &random))
                #expect(box.holds, "seed \(seed), step \(step)")
            }
        }
        for box in boxes { #expect(box.holds, "seed \(seed)") }
    }

    @Test func secretsOfConcurrentThreadsKeepTheirBytes() throws {
        let failures = Mutex(0)
        try onThreads(8) { thread in
            for step in 0..<2_000 {
                let bytes = [UInt8](repeating: UInt8(thread), count: step % 200 + 1)
                guard try Box(bytes).holds else { return failures.withLock { $0 += 1 } }
            }
        }
        #expect(failures.withLock { $0 } == 0)
    }

    @Test func aThreadFreesWhatOthersHaveAllocated() throws {
        let allocated = Mutex<[Box]>([])
        try onThreads(16) { thread in
            for size in 1...200 {
                let box = try Box([UInt8](repeating: UInt8(thread), count: size))
                allocated.withLock { $0.append(box) }
            }
        }
        var boxes = allocated.withLock { exchange(&$0, with: []) }
        boxes.removeLast(boxes.count / 2)
        // A block that went back to another thread's memory would be given out while it is in use.
        for size in 1...2_000 { boxes.append(try Box([UInt8](repeating: 255, count: size % 200 + 1))) }
        let areKept = boxes.allSatisfy(\.holds)
        #expect(areKept)
    }

    /// In a process of its own, whose memory nobody else uses.
    @Test(.disabled(if: Sanitizer.isAddress, "the address sanitizer maps memory of its own while the test runs"))
    func memoryOfManySecretsIsReturnedAndUsedAgain() async {
        await #expect(processExitsWith: .success) {
            func holdAndFree(_ count: Int, _ size: Int, oldestFirst: Bool) throws {
                var boxes = try (0..<count).map { _ in try Box([UInt8](repeating: 0, count: size)) }
                if oldestFirst { boxes.reverse() }
                while let box = boxes.popLast() {
                    let isLocked = box.secret.isLockedInMemory
                    #expect(isLocked)
                }
            }
            func mappings() throws -> Int {
                try kernelText("/proc/self/maps").split(separator: "\n").count
            }
            try holdAndFree(100, 40, oldestFirst: true)
            let before = try mappings()
            // Ten times more than the last region holds. What small secrets leave is one piece again, in either order:
            // seen after each, since freeing in one order repairs what the other one leaves.
            for size in [40, 4_096, 700, 40, 4_096] {
                for oldestFirst in [true, false] {
                    try holdAndFree(2_000, size, oldestFirst: oldestFirst)
                    let after = try mappings()
                    #expect(after <= before + 8, "\(size) bytes, \(oldestFirst ? "oldest" : "newest") first")
                }
            }
        }
    }

    /// Until secrets are freed, with those that there are as they were.
    @Test(
        .disabled(
            if: Sanitizer.isAddress,
            "the address sanitizer ends a process that gets no memory"))
    func withoutMemoryASecretIsAnErrorAndTheOthersStay() async {
        await #expect(processExitsWith: .success) {
            // Before the limit: the first one allocates what libsodium needs.
            let first = try SecretBytes(zeros: 16)
            let addressSpace = __rlimit_resource_t(RLIMIT_AS.rawValue)
            var limit = rlimit()
            try #require(getrlimit(addressSpace, &limit) == 0)
            let former = limit.rlim_cur
            limit.rlim_cur = rlim_t(try ThisProcess.addressSpace() + 2 << 20)
            try #require(setrlimit(addressSpace, &limit) == 0)
            let runs = (0..<2).map { _ in SecretArenaTests.holdUntilThereIsNoMemory() }
            limit.rlim_cur = former
            try #require(setrlimit(addressSpace, &limit) == 0)
            for (count, areKept, code) in runs {
                #expect(count > 10)
                #expect(areKept)
                #expect(code == .outOfMemory)
            }
            #expect(runs[1].count >= runs[0].count)
            withExtendedLifetime(first) {}
        }
    }

    /// Creates secrets that exist at the same time, and returns how many, whether they kept their bytes, and the error
    /// of the one that could not be created.
    private static func holdUntilThereIsNoMemory(
        _ count: Int = 0
    ) -> (count: Int, areKept: Bool, code: SealingError.Code?) {
        guard count < 10_000 else { return (count, true, nil) }
        do throws(SealingError) {
            var secret = try SecretBytes(zeros: 2_000)
            let byte = UInt8(truncatingIfNeeded: count)
            secret.withUnsafeMutableBytes { $0.copyBytes(from: repeatElement(byte, count: 2_000)) }
            let result = holdUntilThereIsNoMemory(count + 1)
            let isKept = secret.withUnsafeBytes { $0.allSatisfy { $0 == byte } }
            return (result.count, result.areKept && isKept, result.code)
        } catch { return (count, true, error.code) }
    }

    @Test(arguments: [-1, 48]) func aByteWrittenBesideASecretEndsTheProcess(offset: Int) async {
        await #expect(processExitsWith: .failure) { [offset = offset as Int] in
            let neighbour = try SecretBytes(zeros: 48)
            var secret = try SecretBytes(zeros: 48)
            secret.withUnsafeMutableBytes { secret in
                // What lies there is random: any constant would be that byte once in 256 runs.
                guard let byte = secret.baseAddress?.load(fromByteOffset: offset, as: UInt8.self) else { return }
                secret.baseAddress?.storeBytes(of: ~byte, toByteOffset: offset, as: UInt8.self)
            }
            _ = consume secret
            // Not reached.
            _ = consume neighbour
            exit(EXIT_SUCCESS)
        }
    }
}
