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
    private final class Box {
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

    /// In a process of its own, whose memory nobody else uses.
    @Test func memoryOfManySecretsIsReturnedAndUsedAgain() async {
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
                try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n").count
            }
            try holdAndFree(100, 40, oldestFirst: true)
            let before = try mappings()
            // Ten times more than the last region holds. What small secrets leave is one piece again.
            for size in [40, 4_096, 700, 40, 4_096] {
                for oldestFirst in [true, false] { try holdAndFree(2_000, size, oldestFirst: oldestFirst) }
            }
            let after = try mappings()
            #expect(after <= before + 8)
        }
    }

    @Test(arguments: [-1, 48]) func aByteWrittenBesideASecretEndsTheProcess(offset: Int) async {
        await #expect(processExitsWith: .failure) { [offset = offset as Int] in
            let neighbour = try SecretBytes(zeros: 48)
            var secret = try SecretBytes(zeros: 48)
            secret.withUnsafeMutableBytes { $0.baseAddress?.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self) }
            _ = consume secret
            // Not reached.
            _ = consume neighbour
            exit(EXIT_SUCCESS)
        }
    }
}
