extension BidirectionalCollection {
    /// Returns the collection without the leading and trailing elements for which `isTrimmed` returns true.
    package func trimming(while isTrimmed: (Element) -> Bool) -> SubSequence {
        let rest = drop(while: isTrimmed)
        return rest.lastIndex { !isTrimmed($0) }.map { rest[...$0] } ?? rest
    }
}

extension UInt8 {
    /// Whether the byte is a space, a tab, a line feed or a carriage return.
    package var isWhiteSpace: Bool { [0x20, 0x09, 0x0A, 0x0D].contains(self) }
}
