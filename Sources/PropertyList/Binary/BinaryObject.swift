/// One object of a binary property list, its children not yet looked at.
enum BinaryObject {
    case scalar(PropertyList)
    case array([Int])
    case dictionary(keys: [Int], values: [Int])
}

/// The first byte of an object: its type in the high half, in the low half a size.
enum BinaryMarker {
    static let no: UInt8 = 0x08
    static let yes: UInt8 = 0x09
    static let integer: UInt8 = 0x10
    static let real: UInt8 = 0x20
    static let date: UInt8 = 0x33
    static let data: UInt8 = 0x40
    static let ascii: UInt8 = 0x50
    static let utf16: UInt8 = 0x60
    static let array: UInt8 = 0xa0
    static let dictionary: UInt8 = 0xd0
    /// A size of this says that an integer object with the size follows.
    static let sizeFollows: UInt8 = 0x0f
}
