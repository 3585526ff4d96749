/// A record whose index has been opened.
struct Record: Sendable {
    let place: UInt64
    let frame: Frame
    let index: RecordIndex
    let authenticator: Authenticator

    var moment: Moment { Moment(sequence: index.sequence, authenticator: authenticator) }
    var end: UInt64 { place + frame.recordLength }
    var payload: Range<UInt64> { end - frame.payloadLength..<end }
}
