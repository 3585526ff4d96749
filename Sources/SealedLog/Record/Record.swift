/// A record whose index has been opened.
struct Record: Sendable {
    let offset: UInt64
    let frame: Frame
    let index: RecordIndex
    let authenticator: Authenticator

    var position: LogPosition { LogPosition(sequence: index.sequence, authenticator: authenticator) }
    var end: UInt64 { offset + frame.recordLength }
    var payload: Range<UInt64> { end - frame.payloadLength..<end }

    /// Whether the payload ends, by the frame, where the last of what the index names in it does, and is empty if it
    /// names nothing there.
    var endsAsNamed: Bool { index.namedEnd(ofPayloadAt: payload.lowerBound) == end }
}

extension RecordIndex {
    /// Where the last ends of what the index names in the payload: a box, or the tree's root.
    func namedEnd(ofPayloadAt start: UInt64) -> UInt64 {
        if let root = tree?.root { return root.offset &+ UInt64(root.length) }
        var end = start
        for version in transactions.joined().flatMap(\.versions) where version.offset >= start {
            end = max(end, version.offset &+ UInt64(version.boxLength))
        }
        return end
    }
}
