import LinuxSystem
import SealedLog
import Sealing

extension Mirror.State {
    private static let magic: [UInt8] = Array("vltmirr2".utf8)
    private static let checkSize = 8

    var encoded: [UInt8] {
        let bounds = ranges.sorted.flatMap { [$0.lowerBound, $0.upperBound] }
        let numbers = [
            head.generation, head.position.sequence, head.size, head.hint?.offset ?? 0, head.hint?.sequence ?? 0,
            contact, UInt64(bounds.count),
        ]
        let bytes =
            Self.magic + head.position.authenticator.bytes
            + (numbers + bounds).flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } }
        return bytes + Self.check(of: bytes)
    }

    /// Tells a file that another process is writing.
    private static func check(of bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.withUnsafeBytes { RunningHash.hash(of: $0) }.prefix(checkSize)
    }

    /// Bytes of an older file may follow.
    init?(parsing bytes: [UInt8]) {
        let numbersStart = Self.magic.count + Authenticator.size
        guard bytes.starts(with: Self.magic), bytes.count >= numbersStart + 7 * 8 else { return nil }
        func number(_ index: Int) -> UInt64 {
            bytes.withUnsafeBytes { bytes in
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: numbersStart + index * 8, as: UInt64.self))
            }
        }
        let boundCount = number(6)
        guard boundCount.isMultiple(of: 2), boundCount <= (bytes.count - numbersStart) / 8 - 7 else { return nil }
        let boundsEnd = 7 + Int(boundCount)
        let end = numbersStart + boundsEnd * 8
        guard bytes[end...].starts(with: Self.check(of: Array(bytes[..<end]))),
            (0..<7).allSatisfy({ number($0) < 1 << 63 })
        else { return nil }
        let authenticator = bytes[Self.magic.count..<numbersStart].withUnsafeBytes { Authenticator($0) }
        head = StoreHead(
            generation: number(0), position: LogPosition(sequence: number(1), authenticator: authenticator),
            size: number(2), hint: number(3) == 0 ? nil : Hint(offset: number(3), sequence: number(4)))
        contact = number(5)
        for index in stride(from: 7, to: boundsEnd, by: 2) where number(index) < number(index + 1) {
            ranges.insert(number(index)..<number(index + 1))
        }
    }
}

extension Mirror.State {
    /// Whether nothing shows that another process has another history, or has gone on to another generation. Then this
    /// one goes on to read what it knows.
    func continues(_ included: LogPosition?, of generation: UInt64) -> Bool {
        head.generation == generation && included.map(head.position.mayFollow) ?? true
    }
}

extension LogPosition {
    /// Whether nothing shows that another history ends here than the one that has ended there.
    func mayFollow(_ other: LogPosition) -> Bool { self == other || sequence > other.sequence }
}
