import LinuxSystem

/// The limits of the format (Format.md) and the settings of the log. Sizes are in bytes.
package enum Limits {
    package static let nameSize = NameRule.maximumSize
    package static let valueSize = 16 << 20
    /// The maximum size of an encoded entry. At least two entries of this size fit in a page.
    package static let entrySize = 8_000
    package static let attributeCount = 64
    package static let earlierVersionCount = 255

    /// The default size of the cache for opened pages. It holds slightly more than a million entries.
    package static let indexMemory = 128 << 20

    /// The checkpoint's offset, directly after the header and its copy.
    package static let checkpointStart: UInt64 = 8_192
    package static let slotCount = 16
    /// The maximum number of former memory subkeys in a manifest. Rotations and merges add subkeys.
    package static let formerKeys = 4_096
    /// The maximum number of removed keys in a manifest. If there are more, it lists the most recently removed ones.
    static let removedKeys = 256
    /// The space in the header for the parameters of all key slots.
    static let slotParametersSize = 1_984
    /// The maximum size of a sealed page.
    package static let pageSize = 16 << 10
    package static let pageLevel: UInt8 = 8
    /// The maximum size of a sealed index or manifest.
    package static let indexSize = 1 << 20
    package static let payloadSize: UInt64 = 512 << 20
    /// The maximum size of everything after the log's end: the longest torn record, and preallocated zeros.
    package static let tailSize: UInt64 = 514 << 20
    /// The number of stray record magics at possible offsets after the log's end, above which a file counts as damaged.
    package static let strayMagics = 16
    /// The exclusive upper bound on value offsets.
    static let valueOffset: UInt64 = 1 << 61
    /// The exclusive upper bound on the sequence numbers of headers, and on all offsets except those of values.
    package static let sequence: UInt64 = 1 << 62
    /// The exclusive upper bound on record sequence numbers. None reaches it, since the header's is below ``sequence``.
    static let recordSequence: UInt64 = 1 << 63
    package static let sector: UInt64 = 512
    package static let alignment: UInt64 = 16

    /// The number of records after which a writer adds a minor checkpoint, counted from the newest checkpoint, minor or
    /// not. It rises within this range with the size of the current minor checkpoint. Until it reaches the upper bound,
    /// the cost of rewriting the minor checkpoint stays below half a kilobyte per record.
    package static let recordsBeforeMinorCheckpoint = 128...512
    /// The number of minor-checkpoint entries per record of the interval that ``recordsBeforeMinorCheckpoint`` limits.
    package static let minorEntriesPerRecord: UInt64 = 4
    /// The index size above which a writer stores a transaction's entries in a tree.
    package static let inlineIndexSize = 16 << 10
    /// A writer extends the file with zeros to a multiple of this size. The size is small because a reader searches the
    /// zeros once for stray frames, and each 4 KiB of them costs a page fault.
    package static let growth: UInt64 = 16 << 10
    /// The maximum total size of a record's transactions, which are held in memory until they are written.
    package static let transactionSize = 256 << 20
    /// The maximum number of authenticators in a manifest's chain.
    package static let chainLength = 1_024
    /// The maximum number of log positions that a machine remembers for a vault in git, where checkouts replace files.
    package static let seenHeads = 1_024
    /// The age in milliseconds (90 days) at which compaction drops a tombstone. It drops an expired value at the same
    /// age, or later if the history is kept for longer.
    package static let tombstoneLifetime: UInt64 = 90 * 86_400_000

    /// The floor for dead bytes. Compaction starts when they exceed both this floor and half of the live bytes, or when
    /// the minor checkpoint's entries exceed both ``minorEntriesFloor`` and a sixteenth of all entries.
    package static let deadBytesFloor: UInt64 = 256 << 10
    /// The value of ``deadBytesFloor`` for a vault in a database. It is higher, because compaction transfers the whole
    /// vault twice, and every process that uses the vault must open it again afterwards.
    package static let sharedDeadBytesFloor: UInt64 = 8 << 20
    package static let minorEntriesFloor: UInt64 = 4_096
    /// The size of the minor checkpoint above which compaction starts. Without this limit, the next minor checkpoint
    /// and a transaction might not fit in one record.
    package static let minorSize: UInt64 = 128 << 20
}
