// What a store is asked and told of the end of its log.

/// What follows the end of a log.
package enum StoreGrowth: Sendable {
    case none
    /// Records follow, up to an end that the store states, if it states one.
    ///
    /// - Parameter areDurable: whether the records that can be read are durable.
    case some(upTo: StatedEnd?, areDurable: Bool)
    /// The store does not end as the log does, or was replaced.
    case doubtful
}

/// Where a store says that the log ends. The next record is appended by that, so it has to be what the log, which is
/// authentic, ends with.
package struct StatedEnd: Sendable {
    package let position: LogPosition
    package let offset: UInt64
    /// Whether the store has bytes behind it.
    package let hasMore: Bool

    package init(_ position: LogPosition, at offset: UInt64, hasMore: Bool) {
        self.position = position
        self.offset = offset
        self.hasMore = hasMore
    }
}

/// The end of a log as it was found.
package struct LogTail: Sendable {
    /// What stands at the end and is no record of the log.
    package enum Remains: Sendable {
        case nothing
        /// What fails to be a record: torn, or damaged. The text says how.
        case failing(StaticString)
        /// What no interrupted writer leaves.
        case foreign(StaticString)
    }

    package let end: UInt64
    package let head: LogPosition
    package let remains: Remains
    package let vaultID: [UInt8]
}

/// What a store has found behind the end of a log.
package struct TailState: Sendable {
    /// Whether there are bytes other than zeros: the next writer clears them first.
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
    /// The bytes of the newest record, if its writer may have died before it was durable.
    package let undurable: Range<UInt64>?
    /// Whether other bytes than zeros were seen behind the end.
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

/// A sealed record as a store appends it.
package struct StoredRecord: Sendable {
    package let offset: UInt64
    /// From its offset on. The rest was written before.
    package let bytes: [UInt8]
    package let end: UInt64
    package let previous: LogPosition
    package let position: LogPosition
    /// Where readers may begin, if the record has a tree.
    package let hint: Hint?

    package var isWhole: Bool { UInt64(bytes.count) == end - offset }
}
