private import Sealing

/// The bounds of the format (Format.md) and the figures that steer the log.
package enum Limits {
    /// A name, in bytes of UTF-8.
    package static let nameSize = 1_024
    /// A value, in bytes.
    package static let valueSize = 16 << 20
    /// An encoded entry, in bytes: at least two fit a page.
    package static let entrySize = 8_000
    package static let attributeCount = 64
    package static let earlierVersionCount = 255

    static let headerSize = 4_096
    /// Behind the header and its copy.
    static let checkpointStart: UInt64 = 8_192
    static let slotSize = 160
    static let slotCount = 16
    /// A sealed page, in bytes.
    static let pageSize = 16 << 10
    static let pageLevel: UInt8 = 8
    /// A sealed index or manifest, in bytes.
    static let indexSize = 1 << 20
    static let payloadSize: UInt64 = 512 << 20
    /// What may lie behind the log's end, in bytes: no less than the longest record that was torn, and the zeros
    /// written ahead of it.
    static let tailSize: UInt64 = 514 << 20
    /// How often the magic of a record may stand there by chance, where a record may begin.
    static let strayMagics = 16
    /// Sequence numbers and offsets stay below this.
    static let sequence: UInt64 = 1 << 62
    static let sector: UInt64 = 512
    static let alignment: UInt64 = 16

    /// Records after the newest checkpoint, minor or not, before the next minor one: what a reader has to go through.
    ///
    /// Few while the minor checkpoint is small and soon written anew, more as it grows, so that a record's share in
    /// writing it stays below half a kilobyte until the upper bound.
    package static let recordsBeforeMinorCheckpoint = 128...512
    /// Entries of the minor checkpoint for each record that may gather.
    static let minorEntriesPerRecord: UInt64 = 4
    /// An index beyond this, in bytes, becomes a tree at once.
    static let inlineIndexSize = 16 << 10
    /// Zeros are written ahead in steps of this many bytes. A reader looks through them once, for frames that should
    /// not be there, and pays a page fault for every 4 KiB.
    static let growth: UInt64 = 16 << 10
    /// Bytes that the transactions of a record may add: it is put together in memory and goes out with one write.
    static let transactionSize = 256 << 20
    /// Authenticators that a manifest keeps.
    static let chainLength = 1_024
    /// Tombstones older than this are let go by compaction: 90 days, in milliseconds.
    static let tombstoneLifetime: UInt64 = 90 * 86_400_000

    /// Compaction starts when dead bytes pass this floor and half of the live ones, or when the minor checkpoint holds
    /// more entries than this floor and a sixteenth of all.
    package static let deadBytesFloor: UInt64 = 256 << 10
    package static let minorEntriesFloor: UInt64 = 4_096
    /// It starts too when the minor checkpoint has grown to so many bytes: the next one has to fit a record with a
    /// transaction.
    static let minorSize: UInt64 = 128 << 20

    static func aligned(_ size: Int) -> Int { (size + 15) & ~15 }
}
