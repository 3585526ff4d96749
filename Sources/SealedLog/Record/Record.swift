/// A record whose index has been opened.
struct Record: Sendable {
    let place: UInt64
    let frame: Frame
    let index: RecordIndex
    let authenticator: Authenticator

    var moment: Moment { Moment(sequence: index.sequence, authenticator: authenticator) }
    var end: UInt64 { place + frame.recordLength }
    var payload: Range<UInt64> { end - frame.payloadLength..<end }

    /// Whether a value or the root that the index names ends where the record does, by its frame.
    var endsAsNamed: Bool {
        if let root = index.tree?.root { return root.place + UInt64(root.length) == end }
        return index.transactions.joined().contains { entry in
            guard let version = entry.content?.current else { return false }
            return version.place + UInt64(version.boxLength) == end
        }
    }
}
