/// The version of a Debian package. Versions are ordered as in `dpkg --compare-versions` and Debian Policy 5.6.12.
struct DebianVersion: Comparable {
    let text: String
    private let epoch: [UInt8]
    private let upstream: [UInt8]
    private let revision: [UInt8]

    /// Parses a version. A missing epoch or revision counts as zero.
    init(_ text: String) {
        self.text = text
        var rest = Array(text.utf8)[...]
        let colon = rest.firstIndex(of: UInt8(ascii: ":"))
        epoch = colon.map { Array(rest[..<$0]) } ?? []
        if let colon { rest = rest[(colon + 1)...] }
        let hyphen = rest.lastIndex(of: UInt8(ascii: "-"))
        revision = hyphen.map { Array(rest[($0 + 1)...]) } ?? []
        upstream = Array(rest[..<(hyphen ?? rest.endIndex)])
    }

    static func == (left: DebianVersion, right: DebianVersion) -> Bool { left.order(to: right) == 0 }
    static func < (left: DebianVersion, right: DebianVersion) -> Bool { left.order(to: right) < 0 }

    private func order(to other: DebianVersion) -> Int {
        for (part, others) in [(epoch, other.epoch), (upstream, other.upstream), (revision, other.revision)] {
            let order = DebianVersion.order(part[...], others[...])
            if order != 0 { return order }
        }
        return 0
    }

    /// Compares one part of two versions, such as the epoch, as a sequence of alternating non-digits and numbers.
    private static func order(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Int {
        var left = left
        var right = right
        while !left.isEmpty || !right.isEmpty {
            while isWord(left.first) || isWord(right.first) {
                let order = weight(left.first) - weight(right.first)
                if order != 0 { return order }
                left = left.dropFirst()
                right = right.dropFirst()
            }
            let number = takeNumber(&left)
            let other = takeNumber(&right)
            if number.count != other.count { return number.count - other.count }
            if let difference = zip(number, other).first(where: { $0 != $1 }) {
                return Int(difference.0) - Int(difference.1)
            }
        }
        return 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isWord(_ byte: UInt8?) -> Bool { byte.map { !isDigit($0) } ?? false }

    /// Returns a sort weight: first a tilde, then the end (nil) and digits (equal), then letters, then all other bytes.
    private static func weight(_ byte: UInt8?) -> Int {
        guard let byte, !isDigit(byte) else { return 0 }
        if byte == UInt8(ascii: "~") { return -1 }
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        return Int(byte) + (isLetter ? 0 : 256)
    }

    /// Removes the digits at the start of `text`, and returns them without leading zeros.
    private static func takeNumber(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let digits = text.prefix(while: isDigit)
        text = text.dropFirst(digits.count)
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}
