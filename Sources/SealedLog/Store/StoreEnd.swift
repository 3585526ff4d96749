// Values that a log and its store pass to each other to describe the log's end.

package enum StoreGrowth: Sendable {
    case none
    /// Records follow. If the store states where the log ends, they extend up to there.
    ///
    /// - Parameter areDurable: whether all readable records are durable.
    case some(upTo: StatedEnd?, areDurable: Bool)
    /// The store's end is not the log's end, or the store was replaced.
    case doubtful
}

/// The log's end as stated by the store. The store accepts the next record only if it follows this end, so it must
/// equal the end of the authentic log.
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
    /// The bytes after the end that are not a record of the log.
    package enum Remains: Sendable {
        case nothing
        /// The bytes are a torn or damaged record. The text states the reason.
        case failing(StaticString)
        /// The bytes are an authentic record that does not belong here. An interrupted writer cannot leave one.
        case foreign(StaticString)
    }

    package let end: UInt64
    package let head: LogPosition
    package let remains: Remains
    package let vaultID: [UInt8]
}

package struct TailState: Sendable {
    /// Whether bytes other than zeros follow. If so, the next writer clears them first.
    package let needsClearing: Bool
    /// Whether the newest record is certainly durable, because the store returns only durable records.
    package let isDurable: Bool

    package init(needsClearing: Bool, isDurable: Bool) {
        self.needsClearing = needsClearing
        self.isDurable = isDurable
    }
}

/// The end of a log to which a record is about to be appended.
package struct LogEnd: Sendable {
    package let offset: UInt64
    /// The range of the newest record if its writer may have died before making it durable, otherwise nil.
    package let undurable: Range<UInt64>?
    /// Whether bytes other than zeros were found after the end.
    package let needsClearing: Bool
    /// Whether the payload is written first and the record in front of it later.
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
    /// The record's first bytes. Its remaining bytes, if any, were written before.
    package let bytes: [UInt8]
    package let end: UInt64
    package let previous: LogPosition
    package let position: LogPosition
    /// The hint for readers; nil unless the record has a tree.
    package let hint: Hint?

    package var isWhole: Bool { UInt64(bytes.count) == end - offset }
}
