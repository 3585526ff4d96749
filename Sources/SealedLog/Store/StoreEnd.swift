// Values that describe the end of a log to its store, and by its store.

package enum StoreGrowth: Sendable {
    case none
    /// Records follow, up to an end that the store states, if it states one.
    ///
    /// - Parameter areDurable: whether the records that can be read are durable.
    case some(upTo: StatedEnd?, areDurable: Bool)
    /// The store does not end as the log does, or was replaced.
    case doubtful
}

/// The end of the log as the store states it. The store decides by it whether to append the next record, so it must
/// equal the end of the log, which is authentic.
package struct StatedEnd: Sendable {
    package let position: LogPosition
    package let offset: UInt64
    /// Whether the store has bytes after the stated end.
    package let hasMore: Bool

    package init(_ position: LogPosition, at offset: UInt64, hasMore: Bool) {
        self.position = position
        self.offset = offset
        self.hasMore = hasMore
    }
}

package struct LogTail: Sendable {
    /// The bytes at the end that are no record of the log.
    package enum Remains: Sendable {
        case nothing
        /// The bytes are not a valid record: torn or damaged. The text is the reason.
        case failing(StaticString)
        /// An authentic record that does not belong here. No interrupted writer leaves one.
        case foreign(StaticString)
    }

    package let end: UInt64
    package let head: LogPosition
    package let remains: Remains
    package let vaultID: [UInt8]
}

package struct TailState: Sendable {
    /// Whether bytes other than zeros follow. The next writer clears them first.
    package let needsClearing: Bool
    /// Whether the newest record is durable because it can be read.
    package let isDurable: Bool

    package init(needsClearing: Bool, isDurable: Bool) {
        self.needsClearing = needsClearing
        self.isDurable = isDurable
    }
}

/// The end of a log that is about to grow.
package struct LogEnd: Sendable {
    package let offset: UInt64
    /// The range of the newest record, if its writer may have died before it was durable.
    package let undurable: Range<UInt64>?
    /// Whether bytes other than zeros were seen after the end.
    package let needsClearing: Bool
    /// Whether a payload is written next, and the record in front of it later.
    package let isPayloadFirst: Bool

    package init(
        at offset: UInt64, undurable: Range<UInt64>? = nil, needsClearing: Bool = false, isPayloadFirst: Bool = false
    ) {
        self.offset = offset
        self.undurable = undurable
        self.needsClearing = needsClearing
        self.isPayloadFirst = isPayloadFirst
    }
}

/// A sealed record in the form that a store appends.
package struct StoredRecord: Sendable {
    package let offset: UInt64
    /// The bytes from the record's offset on. The rest was written before.
    package let bytes: [UInt8]
    package let end: UInt64
    package let previous: LogPosition
    package let position: LogPosition
    /// The hint for readers, if the record has a tree.
    package let hint: Hint?

    package var isWhole: Bool { UInt64(bytes.count) == end - offset }
}
