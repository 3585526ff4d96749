import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// Every vault that another implementation has made is salvaged whole: of its header, either half of each sector is
/// enough.
@Suite("Salvage of vaults of another implementation")
struct SalvagedVectorTests {
    /// Sectors of the header, and of its copy, that are lost.
    struct Damage: Sendable, CustomStringConvertible {
        var header: [Int] = []
        var copy: [Int] = []

        var description: String { "header \(header), copy \(copy)" }

        func applied(to bytes: Data) -> [UInt8] {
            var damaged = Array(bytes)
            let starts = header.map { $0 * 512 } + copy.map { Header.copyOffset + $0 * 512 }
            for start in starts { damaged.replaceSubrange(start..<start + 512, with: repeatElement(0, count: 512)) }
            return damaged
        }

        static let parts: [Damage] =
            [Damage(header: Array(0..<8)), Damage(copy: Array(0..<8))]
            + (0..<8).flatMap { sector in
                [
                    Damage(header: [sector]), Damage(copy: [sector]),
                    Damage(header: [sector], copy: [(sector + 4) % 8]),
                    Damage(header: [sector, (sector + 1) % 8], copy: [(sector + 3) % 8]),
                ]
            }
    }

    /// They end with a record that was never acknowledged, of which nothing is lost but its frame: a salvage takes it.
    private static let tornButWhole = [
        "tail-without-its-checksum", "tail-without-its-frame", "tail-without-the-start-of-its-frame",
    ]

    private static func soundVectors() throws -> [String] {
        try VaultVector.names().filter { name in
            let vector = try VaultVector(name)
            return vector.outcome == .ok && vector.sharingNonces.isEmpty
        }
    }

    @Test(arguments: try soundVectors()) func areSalvagedWhole(_ name: String) throws {
        let vector = try VaultVector(name)
        let former = try Header(parsing: Array(vector.vault.prefix(Header.size)))
        // Those with more in their header than most have all of it damaged, others a part by turns.
        let isSpecial = former.hasMembers && former.isAccessLogged || former.slots.contains { !$0.parameters.isEmpty }
        let turn = try Self.soundVectors().firstIndex(of: name) ?? 0
        let parts = Damage.parts.indices.filter { isSpecial || $0 % 7 == turn % 7 }.map { Damage.parts[$0] }
        for damage in [Damage()] + parts {
            let folder = try TemporaryFolder()
            let bytes = damage.applied(to: vector.vault)
            try overwrite(folder.file("vault"), bytes)
            var unlocker = try VectorUnlocker(vector, in: folder)
            let report = try SealedLog.salvage(
                FileLocation(folder.file("vault"), in: PosixFileSystem()),
                to: FileLocation(folder.file("salvaged"), in: PosixFileSystem()), with: &unlocker,
                options: SealedLog.Options())
            #expect(report.isComplete && report.certain >= vector.entries.count, "\(damage)")
            #expect(report.damage.isEmpty == (bytes == Array(vector.vault)), "\(damage): \(report.damage)")
            #expect(report.leftBehind == expected(of: former), "\(damage)")

            unlocker = try VectorUnlocker(vector, in: folder)
            unlocker.trustsRecipients = true
            let location = FileLocation(folder.file("salvaged"), in: PosixFileSystem())
            let log = try Opening(location: location, options: SealedLog.Options()).opened(&unlocker)
            let isTaken = Self.tornButWhole.contains(name)
            #expect(try (VaultVector.entries(of: log) == vector.entries) != isTaken, "\(damage)")
            let header = log.view.withLock(\.header)
            #expect(header.history == former.history && header.isAccessLogged == former.isAccessLogged)
            #expect(!header.hasMembers && header.slots.count == 1)
        }
    }

    private func expected(of header: Header) -> [SalvageReport.Part] {
        var parts: [SalvageReport.Part] = []
        if header.hasMembers { parts.append(.members) }
        if header.slots.count > 1 { parts.append(.keys) }
        if header.isAccessLogged { parts.append(.accesses) }
        return parts
    }

    /// So a field or a flag that is added later is kept: if the parser takes it, its repair does.
    @Test(arguments: ["members-access-logged", "labels-of-recipients", "slot-recipient-of-age", "empty-with-a-nonce"])
    func repairChangesNothingThatTheParserAccepts(_ name: String) throws {
        let sound = try Array(VaultVector(name).vault.prefix(Header.size))
        let flagsAndLimits = (128..<140).flatMap { byte in (0..<8).map { (byte, UInt8(1) << $0) } }
        let others = stride(from: 0, to: Header.macOffset, by: 5).map { ($0, UInt8(1) << ($0 % 8)) }
        var accepted = 0
        for (offset, bit) in flagsAndLimits + others {
            var changed = sound
            changed[offset] ^= bit
            changed[Header.hintOffset...] = ArraySlice(repeating: 0, count: Header.size - Header.hintOffset)
            guard (try? Header(parsing: changed)) != nil else { continue }
            accepted += 1
            #expect(Header.repaired(changed) == changed, "byte \(offset), bit \(bit)")
        }
        #expect(accepted > 50)
    }

    @Test func everyFlagIsInAVector() throws {
        let headers = try SalvagedVectorTests.soundVectors().map {
            try Header(parsing: Array(VaultVector($0).vault.prefix(Header.size)))
        }
        #expect(headers.contains { $0.isAccessLogged && $0.hasMembers })
        #expect(headers.contains { $0.isAccessLogged && !$0.hasMembers })
        #expect(headers.contains { !$0.isAccessLogged && $0.hasMembers })
    }
}
