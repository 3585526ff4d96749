import FoundationEssentials
import PropertyList
import Testing

@Suite("Binary property lists")
struct BinaryTests {
    private static let notANumber = big(Double.nan.bitPattern, 8)

    @Test(
        arguments: [
            ([0x08], .boolean(false)), ([0x09], .boolean(true)), ([0x10, 0xff], .integer(255)),
            ([0x11, 0xff, 0xff], .integer(65_535)), ([0x12] + big(0xffff_ffff, 4), .integer(4_294_967_295)),
            ([0x13] + big(.max, 8), .integer(-1)), ([0x14] + big(0, 8) + big(.max, 8), .integer(Int128(UInt64.max))),
            ([0x14] + big(.max, 8) + big(1 << 63, 8), .integer(Int128(Int64.min))),
            ([0x22] + big(UInt64(Float(0.1).bitPattern), 4), .real(Double(Float(0.1)))),
            ([0x23] + big((-0.0).bitPattern, 8), .real(-0.0)), ([0x23] + notANumber, .real(.nan)),
            ([0x33] + big(0.25.bitPattern, 8), .date(Date(timeIntervalSinceReferenceDate: 0.25))),
            ([0x42, 1, 2], .data(Data([1, 2]))), ([0x4f, 0x10, 2, 1, 2], .data(Data([1, 2]))), ([0x50], .string("")),
            ([0x52, 0x61, 0x0d], .string("a\r")), ([0x62, 0xd8, 0x3d, 0xdd, 0x11], .string("🔑")), ([0xa0], .array([])),
            ([0xd0], .dictionary([:])),
        ] as [([UInt8], StoredValue)])
    func anObjectIsReadAsItIs(object: [UInt8], value: StoredValue) throws {
        #expect(try StoredValue(parsing: BinaryFile(object).bytes) == value)
    }

    @Test(
        arguments: [
            [0x00], [0x80, 1], [0xb0], [0xc0], [0x71, 0x61], [0x0c], [0x0f], [0x14] + big(1, 8) + big(0, 8),
            [0x14] + big(.max, 8) + big(0, 8),
        ] as [[UInt8]])
    func anObjectThatCannotBeKeptIsRefused(object: [UInt8]) {
        #expect(refusal(BinaryFile(object)) == .unsupported)
    }

    @Test(
        arguments: [
            [], [0x15], [0x13, 0], [0x20, 0], [0x24], [0x30], [0x32, 0, 0, 0, 0], [0x41], [0x4f], [0x4f, 0x33],
            [0x4f, 0x14],
            [0x4f, 0x13] + big(.max, 8), [0x4f, 0x13] + big(1 << 62, 8), [0x51, 0x80], [0x61, 0xd8, 0x00],
            [0x61, 0xdc, 0x00],
            [0x6f, 0x13] + big(1 << 62, 8), [0x90], [0xe0], [0xf0], [0xa1], [0xa1, 1], [0xd1, 0],
            [0xdf, 0x13] + big(.max, 8),
            [0xa1, 0], [0xd1, 0, 0],
        ] as [[UInt8]])
    func anObjectThatBreaksTheFormatIsRefused(object: [UInt8]) {
        #expect(refusal(BinaryFile(object)) == .malformed)
    }

    @Test(
        arguments: [
            ([0x80, 5], .integer(5)), ([0x82, 1, 0, 0], .integer(65_536)),
            ([0x87] + big(.max, 8), .integer(Int128(UInt64.max))),
        ] as [([UInt8], StoredValue)])
    func aUIDIsKeptOnlyOnRequest(object: [UInt8], value: StoredValue) throws {
        let file = BinaryFile(object)
        #expect(refusal(file) == .unsupported)
        let (tree, format) = try PropertyListFormat.parse(file.bytes, allowsUIDs: true)
        #expect(tree == .dictionary(["CF$UID": value]) && format == .binary)
    }

    @Test func aUIDCountsAsTheDictionaryThatItBecomes() throws {
        func parse(depth: Int) throws(PropertyListError) -> StoredValue {
            var file = BinaryFile(objects: (1..<depth).map { [0xa1] + big(UInt64($0), 2) } + [[0x80, 5]])
            file.referenceSize = 2
            return try PropertyListFormat.parse(file.bytes, allowsUIDs: true).tree
        }
        let tree = try parse(depth: StoredValue.maximumDepth)
        #expect(try StoredValue(parsing: tree.binary()) == tree)
        let refusal = code { () throws(PropertyListError) in _ = try parse(depth: StoredValue.maximumDepth + 1) }
        #expect(refusal == .tooDeep)
    }

    @Test(arguments: [[0x88] + big(0, 9), [0x8f] + big(0, 16), [0x81, 0]] as [[UInt8]])
    func aUIDOfAnotherSizeIsRefused(object: [UInt8]) {
        #expect(throws: PropertyListError.self) {
            try PropertyListFormat.parse(BinaryFile(object).bytes, allowsUIDs: true)
        }
    }

    @Test func aKeyMustBeAStringAndStandOnce() throws {
        var file = BinaryFile([0xd1, 1, 2], [0x51, 0x61], [0x09])
        #expect(try StoredValue(parsing: file.bytes) == .dictionary(["a": .boolean(true)]))
        file.objects[1] = [0x10, 1]
        #expect(refusal(file) == .malformed)
        file.objects[1] = [0xa0]
        #expect(refusal(file) == .malformed)
        #expect(refusal(BinaryFile([0xd2, 1, 1, 2, 2], [0x51, 0x61], [0x09])) == .malformed)
    }

    @Test(
        arguments: [
            { $0.root = 1 }, { $0.offsetSize = 0 }, { $0.offsetSize = 9 }, { $0.offsetSize = 1 },
            { $0.referenceSize = 0 },
            { $0.referenceSize = 9 }, { $0.objectCount = 0 }, { $0.objectCount = 2 }, { $0.objectCount = .max },
            { $0.objectCount = 1 << 63 }, { $0.tableStart = 8 }, { $0.tableStart = 0 }, { $0.tableStart = .max },
            { $0.tableStart = 10 }, { $0.offsets[0] = 0 }, { $0.offsets[0] = 7 }, { $0.offsets[0] = 9 },
            { $0.offsets[0] = 65_535 },
        ] as [@Sendable (inout BinaryFile) -> Void])
    func aTrailerThatLeadsAstrayIsRefused(change: @Sendable (inout BinaryFile) -> Void) throws {
        var file = BinaryFile([0x09])
        #expect(try StoredValue(parsing: file.bytes) == .boolean(true))
        change(&file)
        #expect(refusal(file) == .malformed)
    }

    @Test func aLaterVersionIsRefused() {
        var file = BinaryFile([0x09])
        file.header = Array("bplist10".utf8)
        #expect(refusal(file) == .unsupported)
    }

    @Test func aContainerThatHoldsItselfIsRefused() {
        #expect(refusal(BinaryFile([0xa1, 1], [0xa1, 0])) == .malformed)
        #expect(refusal(BinaryFile([0xa1, 1], [0xd1, 2, 0], [0x51, 0x61])) == .malformed)
    }

    @Test func aTreeFarLargerThanItsFileIsRefused() throws {
        // Each array holds the next one twice: a tree of 2^(n + 1) - 1 values.
        func doubling(_ count: UInt8) -> BinaryFile {
            BinaryFile(objects: (0..<count).map { [0xa2, $0 + 1, $0 + 1] } + [[0x09]])
        }
        #expect(refusal(doubling(18)) == nil)
        #expect(refusal(doubling(19)) == .tooLarge)
        #expect(refusal(doubling(200)) == .tooLarge)
    }

    @Test func objectsThatOverlapAreRefused() {
        // A root whose children all begin at the same long string.
        let count = 200
        let string: [UInt8] = [0x5f, 0x11] + big(2_000, 2) + [UInt8](repeating: 0x61, count: 2_000)
        let root: [UInt8] = [0xaf, 0x10, UInt8(count)] + (1...UInt8(count)).map { $0 }
        var file = BinaryFile(objects: [root, string] + [[UInt8]](repeating: [], count: count - 1))
        for index in 2...count { file.offsets[index] = 8 + root.count }
        #expect(refusal(file) == .malformed)
    }

    private func refusal(_ file: BinaryFile) -> PropertyListError.Code? {
        code { () throws(PropertyListError) in _ = try StoredValue(parsing: file.bytes) }
    }
}
