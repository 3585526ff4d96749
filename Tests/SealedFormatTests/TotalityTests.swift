import Sealing
import TestSupport
import Testing

@testable import SealedFormat

@Suite("Parsers are total")
struct TotalityTests {
    /// Each parser returns a value or throws, whatever the bytes are. A trap would end the test run.
    @Test(arguments: 0..<16) func noBytesTrap(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        for _ in 0..<400 {
            let bytes = generator.bytes(Int.random(in: 0...300, using: &generator))
            parseAll(bytes)
        }
    }

    /// Bytes that are nearly right get further into the parsers than random ones.
    @Test(arguments: 0..<16) func noChangedBytesTrap(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        for sample in try samples(&generator) {
            parseAll(sample)
            for _ in 0..<60 {
                var bytes = sample
                for _ in 0...Int.random(in: 0...3, using: &generator) {
                    let offset = Int.random(in: 0..<bytes.count, using: &generator)
                    bytes[offset] =
                        [0, 1, 0x7f, 0x80, 0xff, UInt8.random(in: 0...255, using: &generator)]
                        .randomElement(using: &generator) ?? 0
                }
                if Bool.random(using: &generator) {
                    bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
                }
                parseAll(bytes)
            }
        }
    }

    private func samples(_ generator: inout SeededGenerator) throws -> [[UInt8]] {
        var page = PageBuilder()
        for number in 0..<5 {
            let entry = Entry.random(try .sample("name \(number)"), &generator)
            _ = page.add(entry.name) { $0.entry(entry) }
        }
        var index = RecordIndex(
            sequence: 9, previous: randomAuthenticator(), payloadHash: RandomBytes.array(32), totals: Totals())
        index.transactions = [[Entry.random(try .sample("a"), &generator), Entry.random(try .sample("b"), &generator)]]
        let manifest = Manifest(
            created: 1, totals: Totals(), chain: [randomAuthenticator()], labels: [SlotLabel(created: 1, text: "x")],
            settings: [Attribute(key: "k", value: "v")])
        let access = AccessRecord(
            number: 3, previous: randomAuthenticator(), time: 5,
            access: Access(name: "a", command: "get", program: "/bin/sh", process: 7, user: 1_000, started: "x"))
        let header = Array(try Header.sample(slots: 2).sealed(with: randomKeys(), as: nil)[..<Header.size])
        return [page.encoded(level: 0), index.encoded, manifest.encoded, header, access.encoded]
    }

    private func parseAll(_ bytes: [UInt8]) {
        _ = try? RecordIndex(parsing: bytes)
        _ = try? Manifest(parsing: bytes, of: .sample(slots: 1))
        _ = try? Header(parsing: bytes)
        _ = Header.hint(in: bytes + [UInt8](repeating: 0xff, count: max(0, Header.size - bytes.count)))
        _ = bytes.withUnsafeBytes { Frame($0, vaultID: [UInt8](repeating: 0, count: 16)) }
        var reader = ByteReader(bytes)
        _ = try? reader.entry()
        _ = try? reader.pageReference()
        _ = try? reader.totals()
        _ = try? reader.name()
        _ = EntryName(bytes: bytes)
        _ = try? AccessRecord(parsing: bytes)
        guard let page = try? Page(parsing: bytes, at: 0) else { return }
        for index in 0..<page.count {
            _ = try? page.entry(index)
            _ = try? page.child(index)
            _ = try? page.name(index)
        }
        _ = Array("name 3".utf8).withUnsafeBytes { try? page.lastCell(notAfter: $0) }
    }
}
