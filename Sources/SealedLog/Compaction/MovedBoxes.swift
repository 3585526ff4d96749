import LinuxSystem
import Sealing

/// A map from the old offsets of value boxes to the new ones.
struct MovedBoxes {
    private struct Box: Comparable {
        let offset: UInt64
        let length: UInt64
        var target: UInt64 = 0

        init(of version: StoredVersion) {
            offset = version.offset
            length = UInt64(version.boxLength)
        }

        static func == (one: Box, other: Box) -> Bool { (one.offset, one.length) == (other.offset, other.length) }
        static func < (one: Box, other: Box) -> Bool { (one.offset, one.length) < (other.offset, other.length) }
    }

    /// The boxes. Once they have been copied, they are sorted by their old offsets.
    private var boxes: [Box] = []
    /// The versions in the boxes, in the order of ``boxes`` once copied, with new nonces if resealed; nil if unopened.
    private var opened: [StoredVersion]?
    /// The old offsets of the boxes that a rotation could not open.
    private var unopened: Set<UInt64> = []

    init(opened: [StoredVersion]? = nil) { self.opened = opened }

    /// The approximate number of bytes that are copied in one step.
    private static let runSize: UInt64 = 1 << 20

    mutating func add(_ version: StoredVersion) {
        if opened != nil { opened?.append(version) } else { boxes.append(Box(of: version)) }
    }

    /// Opens and reseals the values in the order of their offsets. Values that cannot be opened are copied unchanged.
    mutating func reseal(
        _ resealer: inout ValueResealer, to checkpoint: inout CheckpointWriter, _ counter: UpkeepProgress?
    ) throws(LogError) {
        guard var versions = opened else { return }
        versions.sort { Box(of: $0) < Box(of: $1) }
        for index in versions.indices {
            var box = Box(of: versions[index])
            if let last = boxes.last, last == box {
                versions[index].nonce = versions[index - 1].nonce
                box.target = last.target
            } else {
                let sealed = try resealer.resealOrCopy(versions[index])
                if !sealed.opens { unopened.insert(box.offset) }
                versions[index].nonce = sealed.version.nonce
                box.target = try checkpoint.write(value: sealed.box)
            }
            boxes.append(box)
            counter?.advance(by: box.length)
        }
        opened = versions
    }

    /// Copies the boxes. Adjacent boxes are copied in one step. A box that several entries refer to is copied once.
    mutating func copy(
        from reader: RecordReader, _ repair: inout BoxRepair?, to checkpoint: inout CheckpointWriter,
        _ counter: UpkeepProgress?
    ) throws(LogError) {
        opened?.sort { Box(of: $0) < Box(of: $1) }
        if let opened { boxes = opened.map(Box.init) } else { boxes.sort() }
        var index = 0
        while index < boxes.count {
            let start = boxes[index].offset
            let first = index
            var end = start
            var target = checkpoint.offset
            while index < boxes.count, boxes[index].offset <= end, end - start < MovedBoxes.runSize {
                let isSame = index > first && boxes[index] == boxes[index - 1]
                guard isSame || boxes[index].offset == end else { break }
                boxes[index].target = isSame ? boxes[index - 1].target : target
                if !isSame {
                    end += boxes[index].length
                    target += boxes[index].length
                }
                index += 1
            }
            var bytes = try reader.store.bytes(at: start, count: Int(end - start))
            for version in opened?[first..<index] ?? [] { try repair?.repair(version, in: &bytes, from: start) }
            _ = try checkpoint.write(value: bytes)
            counter?.advance(by: end - start)
        }
    }

    /// Returns whether an entry has a value that a rotation could not open.
    func hasUnopened(_ entry: Entry) -> Bool {
        !unopened.isEmpty && entry.versions.contains { unopened.contains($0.offset) }
    }

    /// Returns a version with its offset in the new file. Throws `damaged` if the version was not copied.
    func moved(_ version: StoredVersion) throws(LogError) -> StoredVersion {
        let box = Box(of: version)
        let found = binarySearch(boxes.count) { boxes[$0] == box ? 0 : boxes[$0] < box ? -1 : 1 }
        guard found.isExact else { throw LogError.damaged("a value", at: version.offset) }
        var moved = version
        moved.offset = boxes[found.index].target
        if let opened { moved.nonce = opened[found.index].nonce }
        return moved
    }
}
