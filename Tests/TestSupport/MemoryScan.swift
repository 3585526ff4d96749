private import CTestSupport
private import Foundation
package import Sealing

/// Searches this process's own memory for copies of a secret. It is useful only in an exit test, in which nothing else
/// runs.
package enum MemoryScan {
    /// The size of the searched parts of the secret. They begin at multiples of eight in it, and are found anywhere in
    /// memory.
    private static let windowSize = 8
    private static let pieceSize = 1 << 20

    /// The reason why a scan proves nothing here; nil if it does. The address sanitizer's shadow of the memory takes
    /// terabytes.
    package static var obstacle: String? {
        Sanitizer.isAddress
            ? "the address sanitizer's shadow of the memory is too large to search" : nil
    }

    /// Returns the mappings that contain a copy, one line each.
    ///
    /// - Parameters:
    /// - secret: random bytes, a multiple of 8, that were never in ordinary memory.
    /// - ordinaryOnly: whether to skip memory that is excluded from core dumps, which is guarded memory in use.
    package static func copies(of secret: borrowing SecretBytes, ordinaryOnly: Bool = true) throws -> [String] {
        let memory = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/mem"))
        var found: [String] = []
        for mapping in try mappings() where mapping.isReadable && !(ordinaryOnly && mapping.isLeftOutOfDumps) {
            let isFound = secret.withUnsafeBytes { secret in
                contains(mapping.range, secret, memory.fileDescriptor)
            }
            if isFound { found.append(mapping.description) }
        }
        return found
    }

    /// Runs `body` far down the stack, so that the scan does not overwrite what it leaves there.
    @inline(never)
    package static func farDown(_ depth: Int = 100, _ body: () throws -> Void) rethrows {
        try withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 8) { memory in
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            if depth > 0 { try farDown(depth - 1, body) } else { try body() }
        }
    }

    private struct Mapping {
        let range: Range<UInt>
        let isReadable: Bool
        let isLeftOutOfDumps: Bool
        let description: String
    }

    private static func mappings() throws -> [Mapping] {
        var mappings: [Mapping] = []
        var head: Substring?
        for line in try kernelText("/proc/self/smaps").split(separator: "\n") {
            guard line.hasPrefix("VmFlags:") else {
                if line.first?.isUppercase == false { head = line }
                continue
            }
            guard let fields = head?.split(separator: " "), fields.count >= 2 else { continue }
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard bounds.count == 2 else { continue }
            mappings.append(
                Mapping(
                    range: bounds[0]..<bounds[1], isReadable: fields[1].first == "r",
                    isLeftOutOfDumps: line.split(separator: " ").contains("dd"), description: String(head ?? "")))
        }
        return mappings
    }

    private static func contains(
        _ range: Range<UInt>, _ secret: UnsafeRawBufferPointer, _ memory: Int32
    ) -> Bool {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize + windowSize, alignment: 16)
        defer { piece.deallocate() }
        for start in stride(from: range.lowerBound, to: range.upperBound, by: pieceSize) {
            // Some pages are reserved by the system and cannot be read.
            let count = pread(memory, piece.baseAddress, min(piece.count, Int(range.upperBound - start)), Int(start))
            guard count > 0 else { continue }
            let isThere = test_holds_part(piece.baseAddress, count, secret.baseAddress, secret.count, windowSize)
            // The piece contains a copy only if one was found.
            piece.initializeMemory(as: UInt8.self, repeating: 0)
            if isThere { return true }
        }
        return false
    }
}

extension SecretBytes {
    /// Returns random bytes that were never in ordinary memory.
    package static func random(_ count: Int) throws -> SecretBytes {
        var secret = try SecretBytes(zeros: count)
        secret.withUnsafeMutableBytes { RandomBytes.fill($0) }
        return secret
    }
}
