/// Base64 with padding, byte by byte through `put`: the encoder of FoundationEssentials would leave copies of a secret
/// in ordinary memory.
enum Base64 {
    static func encode(_ bytes: UnsafeRawBufferPointer, _ put: (UInt8) -> Void) {
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var group: UInt32 = 0
            for place in 0..<3 {
                group = group << 8 | (place < count ? UInt32(bytes[start + place]) : 0)
            }
            for place in 0..<4 {
                put(place <= count ? digit(group >> (18 - 6 * UInt32(place)) & 63) : UInt8(ascii: "="))
            }
        }
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }
}
