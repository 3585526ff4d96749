/// A record whose index has been opened.
struct Record: Sendable {
    let place: UInt64
    let frame: Frame
    let index: RecordIndex
    let authenticator: Authenticator

    var moment: Moment { Moment(sequence: index.sequence, authenticator: authenticator) }
    var end: UInt64 { place + frame.recordLength }
    var payload: Range<UInt64> { end - frame.payloadLength..<end }

    /// Whether the payload ends, by the frame, where the last of what the index names in it does, and is empty if it names nothing there.
    var endsAsNamed: Bool {
        if let root = index.tree?.root { return root.place &+ UInt64(root.length) == end }
        let start = payload.lowerBound
        var last = start
        for entry in index.transactions.joined() {
            for version in entry.versions where version.place >= start {
                last = max(last, version.place &+ UInt64(version.boxLength))
            }
        }
        return last == end
    }
}
