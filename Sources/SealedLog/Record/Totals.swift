/// What the vault holds, carried along by every record so that nobody has to count.
package struct Totals: Hashable, Sendable {
    /// Names that are present.
    package var entries: UInt64 = 0
    /// Bytes of present entries and their value boxes.
    package var liveBytes: UInt64 = 0
    /// Bytes that compaction would free.
    package var deadBytes: UInt64 = 0

    /// Takes account of an entry that replaces another, or the lack of one.
    mutating func replace(_ old: Entry?, with new: Entry) {
        if let old, !old.isRemoved {
            entries -= min(entries, 1)
            liveBytes -= min(liveBytes, old.footprint)
            deadBytes &+= old.footprint
        }
        if !new.isRemoved {
            entries &+= 1
            liveBytes &+= new.footprint
        }
    }
}

extension ByteReader {
    mutating func totals() throws(Malformed) -> Totals {
        Totals(entries: try varint(), liveBytes: try varint(), deadBytes: try varint())
    }
}

extension ByteWriter {
    mutating func totals(_ totals: Totals) {
        varint(totals.entries)
        varint(totals.liveBytes)
        varint(totals.deadBytes)
    }
}
