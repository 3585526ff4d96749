/// A binary property list put together by hand, so that single fields can be wrong.
struct BinaryFile {
    var objects: [[UInt8]]
    var header = Array("bplist00".utf8)
    var root = 0
    /// Offsets to put in place of the right ones, by object.
    var offsets: [Int: Int] = [:]
    var offsetSize: UInt8 = 2
    var referenceSize: UInt8 = 1
    var objectCount: UInt64?
    var tableStart: UInt64?

    init(_ objects: [UInt8]...) { self.objects = objects }

    init(objects: [[UInt8]]) { self.objects = objects }

    var bytes: [UInt8] {
        var bytes = header
        var location: [Int] = []
        for object in objects {
            location.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for (index, location) in location.enumerated() {
            bytes += big(UInt64(bitPattern: Int64(offsets[index] ?? location)), 2)
        }
        bytes += [0, 0, 0, 0, 0, 0, offsetSize, referenceSize]
        bytes += big(objectCount ?? UInt64(objects.count), 8) + big(UInt64(root), 8)
        return bytes + big(tableStart ?? UInt64(table), 8)
    }
}

/// A number's lowest bytes, the highest of them first.
func big(_ number: UInt64, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
}
