/// The bounds of the format (Format.md), and the figures that control the log. Sizes are the largest, in bytes.
package enum Limits {
    package static let nameSize = 1_024
    package static let valueSize = 16 << 20
    /// Of an encoded entry. At least two fit in a page.
    package static let entrySize = 8_000
    package static let attributeCount = 64
    package static let earlierVersionCount = 255

    /// The default for the memory that opened pages take: those of somewhat more than a million entries.
    package static let indexMemory = 128 << 20

    /// The offset behind the header and its copy.
    static let checkpointStart: UInt64 = 8_192
    package static let slotCount = 16
    /// The number of former data keys whose memory subkeys a manifest keeps: one for each rotation, and those of merged
    /// copies.
    package static let formerKeys = 4_096
    /// The number of removed keys that a manifest names: the newest ones.
    static let removedKeys = 256
    /// Of all slots together: what the header has room for.
    static let slotParametersSize = 1_984
    /// Of a sealed page.
    static let pageSize = 16 << 10
    static let pageLevel: UInt8 = 8
    /// Of a sealed index or manifest.
    static let indexSize = 1 << 20
    static let payloadSize: UInt64 = 512 << 20
    /// Of what is behind the log's end: the longest torn record, and the zeros written ahead of it.
    static let tailSize: UInt64 = 514 << 20
    /// How often a record's magic may appear behind the log's end by chance, at offsets where a record may begin.
    static let strayMagics = 16
    /// The offsets of values are below this.
    static let valueOffset: UInt64 = 1 << 61
    /// Other offsets and the sequence numbers of headers are below this.
    static let sequence: UInt64 = 1 << 62
    /// The sequence numbers of records are below this. No log reaches it from a header's.
    static let recordSequence: UInt64 = 1 << 63
    static let sector: UInt64 = 512
    static let alignment: UInt64 = 16

    /// How many records may follow the newest checkpoint, minor or not, before a writer adds the next minor one. The
    /// number rises with the size of the minor checkpoint, so that a record's share of rewriting it stays below half a
    /// kilobyte until the upper bound.
    package static let recordsBeforeMinorCheckpoint = 128...512
    /// The number of entries in the minor checkpoint that allow one more such record.
    static let minorEntriesPerRecord: UInt64 = 4
    /// A larger index becomes a tree at once.
    static let inlineIndexSize = 16 << 10
    /// Zeros are written ahead in steps of this many bytes. A reader searches them once for stray frames, which costs a
    /// page fault per 4 KiB.
    static let growth: UInt64 = 16 << 10
    /// Of what a record's transactions add, which are held in memory until then.
    static let transactionSize = 256 << 20
    /// The number of authenticators that a manifest keeps.
    static let chainLength = 1_024
    /// How many ends of a vault in git a machine remembers.
    static let seenHeads = 1_024
    /// Compaction drops older tombstones, and values that expired earlier unless a history is kept longer: 90
    /// days, in milliseconds.
    static let tombstoneLifetime: UInt64 = 90 * 86_400_000

    /// Compaction starts when the dead bytes exceed this floor and half of the live bytes, or when the entries of the
    /// minor checkpoint exceed ``minorEntriesFloor`` and a sixteenth of all entries.
    package static let deadBytesFloor: UInt64 = 256 << 10
    /// The same in a database, where the whole vault is sent twice for it, and all who have it open open it anew.
    package static let sharedDeadBytesFloor: UInt64 = 8 << 20
    package static let minorEntriesFloor: UInt64 = 4_096
    /// Compaction also starts above this size: the next minor checkpoint must fit in a record with a transaction.
    static let minorSize: UInt64 = 128 << 20
}
