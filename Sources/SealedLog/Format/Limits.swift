import LinuxSystem

/// The bounds of the format (Format.md), and the figures that control the log. Each size is an upper limit in bytes.
package enum Limits {
    package static let nameSize = NameRule.maximumSize
    package static let valueSize = 16 << 20
    /// The size of an encoded entry. At least two entries fit in a page.
    package static let entrySize = 8_000
    package static let attributeCount = 64
    package static let earlierVersionCount = 255

    /// The default memory for opened pages. It holds the pages of slightly more than a million entries.
    package static let indexMemory = 128 << 20

    /// The offset of the checkpoint: the size of the header and its copy.
    static let checkpointStart: UInt64 = 8_192
    package static let slotCount = 16
    /// The number of former data keys whose memory subkeys a manifest keeps: of each rotation, and of merged copies.
    package static let formerKeys = 4_096
    /// The number of removed keys that a manifest lists: the newest ones.
    static let removedKeys = 256
    /// The size of the parameters of all slots together: the room in the header.
    static let slotParametersSize = 1_984
    /// The size of a sealed page.
    static let pageSize = 16 << 10
    static let pageLevel: UInt8 = 8
    /// The size of a sealed index or manifest.
    static let indexSize = 1 << 20
    static let payloadSize: UInt64 = 512 << 20
    /// The size of what may follow the log's end: the longest torn record, and the zeros written ahead of it.
    static let tailSize: UInt64 = 514 << 20
    /// The number of record magics that may appear behind the log's end by chance, at offsets where a record may begin.
    static let strayMagics = 16
    /// The exclusive upper bound of the offsets of values.
    static let valueOffset: UInt64 = 1 << 61
    /// The exclusive upper bound of other offsets and of the sequence numbers of headers.
    static let sequence: UInt64 = 1 << 62
    /// The exclusive upper bound of the sequence numbers of records. No log reaches it from a header's number.
    static let recordSequence: UInt64 = 1 << 63
    static let sector: UInt64 = 512
    static let alignment: UInt64 = 16

    /// The number of records that may follow the newest checkpoint, minor or not, before a writer adds the next minor
    /// one. It rises with the size of the minor checkpoint: up to the upper bound, a record's share of rewriting it
    /// stays below half a kilobyte.
    package static let recordsBeforeMinorCheckpoint = 128...512
    /// The number of entries in the minor checkpoint for which the limit rises by one record.
    static let minorEntriesPerRecord: UInt64 = 4
    /// The index size above which a transaction's entries become a tree.
    static let inlineIndexSize = 16 << 10
    /// The step of zeros written ahead. A reader searches them once for stray frames: a page fault per 4 KiB.
    static let growth: UInt64 = 16 << 10
    /// The size of a record's transactions, which are held in memory until they are written.
    static let transactionSize = 256 << 20
    /// The number of authenticators that a manifest keeps.
    static let chainLength = 1_024
    /// The number of ends that a machine remembers of a vault in git.
    static let seenHeads = 1_024
    /// The age in milliseconds (90 days) at which compaction drops tombstones, and expired values without longer
    /// history.
    static let tombstoneLifetime: UInt64 = 90 * 86_400_000

    /// Compaction starts when the dead bytes exceed this floor and half of the live bytes, or when the entries of the
    /// minor checkpoint exceed ``minorEntriesFloor`` and a sixteenth of all entries.
    package static let deadBytesFloor: UInt64 = 256 << 10
    /// The same floor in a database. It is higher because compaction sends the whole vault twice, and every process
    /// that has it open must open it again.
    package static let sharedDeadBytesFloor: UInt64 = 8 << 20
    package static let minorEntriesFloor: UInt64 = 4_096
    /// The size of the minor checkpoint above which compaction starts: the next one and a transaction share a record.
    static let minorSize: UInt64 = 128 << 20
}
