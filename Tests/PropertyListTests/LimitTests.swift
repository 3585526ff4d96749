import FoundationEssentials
import PropertyList
import TestSupport
import Testing

@Suite("Limits")
struct LimitTests {
    private func xml(_ depth: Int) -> [UInt8] {
        Array((String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)).utf8)
    }

    /// Arrays inside each other.
    private func binary(_ depth: Int) -> [UInt8] {
        var file = BinaryFile(objects: (1..<depth).map { [0xa1] + big(UInt64($0), 2) } + [[0xa0]])
        file.referenceSize = 2
        return file.bytes
    }

    @Test func aTreeOfTheGreatestDepthIsHandledOnASmallStack() throws {
        try onSmallStack {
            for bytes in [xml(StoredValue.maximumDepth), binary(StoredValue.maximumDepth)] {
                let tree = try StoredValue(parsing: bytes)
                #expect(tree == nested(StoredValue.maximumDepth))
                #expect(tree.hashValue == nested(StoredValue.maximumDepth).hashValue)
                #expect(try StoredValue(parsing: tree.xml()) == tree)
                #expect(try StoredValue(parsing: tree.binary()) == tree)
            }
        }
    }

    @Test(arguments: [StoredValue.maximumDepth + 1, 10_000])
    func aDeeperFileIsRefusedOnASmallStack(depth: Int) throws {
        try onSmallStack {
            for bytes in [xml(depth), binary(depth)] {
                #expect(code { () throws(PropertyListError) in _ = try StoredValue(parsing: bytes) } == .tooDeep)
            }
        }
    }

    @Test(arguments: [StoredValue.maximumDepth + 1, 10_000])
    func aDeeperTreeIsNotWritten(depth: Int) {
        let tree = nested(depth)
        #expect(code { () throws(PropertyListError) in _ = try tree.xml() } == .tooDeep)
        #expect(code { () throws(PropertyListError) in _ = try tree.binary() } == .tooDeep)
        #expect(tree == tree && tree != nested(depth - 1))
    }

    @Test func aSharedSubtreeCountsAtItsGreatestDepth() throws {
        // A root that holds a chain of 511 arrays twice: directly, and through one more array.
        var objects: [[UInt8]] = [[0xa2] + big(2, 2) + big(1, 2), [0xa1] + big(2, 2)]
        objects += (3...512).map { [0xa1] + big(UInt64($0), 2) } + [[0xa0]]
        var file = BinaryFile(objects: objects)
        file.referenceSize = 2
        #expect(code { () throws(PropertyListError) in _ = try StoredValue(parsing: file.bytes) } == .tooDeep)
        file.objects[0] = [0xa1] + big(2, 2)
        #expect(code { () throws(PropertyListError) in _ = try StoredValue(parsing: file.bytes) } == nil)
    }

    @Test func aFileBeyondTheSizeIsRefused() {
        let bytes = [UInt8](repeating: 0x20, count: PropertyListFormat.maximumSize + 1)
        #expect(code { () throws(PropertyListError) in _ = try StoredValue(parsing: bytes) } == .tooLarge)
        let tree = StoredValue.data(Data(count: PropertyListFormat.maximumSize))
        #expect(code { () throws(PropertyListError) in _ = try tree.xml() } == .tooLarge)
        #expect(code { () throws(PropertyListError) in _ = try tree.binary() } == .tooLarge)
    }

    @Test func moreValuesThanTheLimitAreNeitherReadNorWritten() throws {
        let most = StoredValue.array(Array(repeating: .boolean(true), count: PropertyListFormat.maximumValues - 1))
        #expect(try StoredValue(parsing: most.xml()) == most)
        #expect(try StoredValue(parsing: most.binary()) == most)
        let more = StoredValue.array(Array(repeating: .boolean(true), count: PropertyListFormat.maximumValues))
        #expect(code { () throws(PropertyListError) in _ = try more.xml() } == .tooLarge)
        #expect(code { () throws(PropertyListError) in _ = try more.binary() } == .tooLarge)
        let file = "<array>" + String(repeating: "<true/>", count: PropertyListFormat.maximumValues) + "</array>"
        #expect(code { () throws(PropertyListError) in _ = try read(file) } == .tooLarge)
    }
}
