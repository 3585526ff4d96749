import LinuxSystem
import SealedFormat
import Sealing

extension Mirror.State {
    private static let magic: [UInt8] = Array("vltmirr2".utf8)
    private static let checkSize = 8

    var encoded: [UInt8] {
        let bounds = ranges.ranges.flatMap { [$0.lowerBound, $0.upperBound] }
        let numbers = [
            head.generation, head.position.sequence, head.size, head.hint?.offset ?? 0, head.hint?.sequence ?? 0,
            contact, UInt64(bounds.count),
        ]
        let bytes =
            Self.magic + head.position.authenticator.bytes
            + (numbers + bounds).flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } }
        return bytes + Self.check(of: bytes)
    }

    /// Returns a checksum of a state file's bytes. It lets a reader detect that another process is still writing it.
    private static func check(of bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.withUnsafeBytes { RunningHash.hash(of: $0) }.prefix(checkSize)
    }

    /// Parses a state file. Ignores any bytes after the state, which are left over from an older, longer state.
    init?(parsing bytes: [UInt8]) {
        let numbersStart = Self.magic.count + Authenticator.size
        guard bytes.starts(with: Self.magic), bytes.count >= numbersStart + 7 * 8 else { return nil }
        let numbers = bytes.withUnsafeBytes { bytes in
            stride(from: numbersStart, through: bytes.count - 8, by: 8).map { offset in
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
        }
        guard numbers[6].isMultiple(of: 2), numbers[6] <= numbers.count - 7 else { return nil }
        let bounds = Array(numbers[7..<7 + Int(numbers[6])])
        let end = numbersStart + (7 + bounds.count) * 8
        guard bytes[end...].starts(with: Self.check(of: Array(bytes[..<end]))),
            numbers[..<7].allSatisfy({ $0 < 1 << 63 })
        else { return nil }
        let authenticator = bytes[Self.magic.count..<numbersStart].withUnsafeBytes { Authenticator($0) }
        head = StoreHead(
            generation: numbers[0], position: LogPosition(sequence: numbers[1], authenticator: authenticator),
            size: numbers[2], hint: numbers[3] == 0 ? nil : Hint(offset: numbers[3], sequence: numbers[4]))
        contact = numbers[5]
        for index in stride(from: 0, to: bounds.count, by: 2) where bounds[index] < bounds[index + 1] {
            ranges.insert(contentsOf: bounds[index]..<bounds[index + 1])
        }
    }
}

extension RangeSet<UInt64> {
    /// Returns the parts of `range` that this set lacks. All offsets at or after `end` count as missing.
    func gaps(in range: Range<UInt64>, upTo end: UInt64) -> [Range<UInt64>] {
        Array(RangeSet(range).subtracting(intersection(RangeSet(0..<end))).ranges)
    }
}

extension Mirror.State {
    /// Returns whether this process may use the copy that this state describes. The copy must belong to `generation`
    /// and, unless `included` is nil, end at that log position or one that could be later in the same history.
    func continues(_ included: LogPosition?, of generation: UInt64) -> Bool {
        head.generation == generation && included.map(head.position.mayFollow) ?? true
    }
}

extension LogPosition {
    /// Returns whether this log position equals `other`, or could be later in the same history.
    func mayFollow(_ other: LogPosition) -> Bool { self == other || sequence > other.sequence }
}

// The first command that finds the server unreachable records the time in a file, so that later ones do not wait.

extension Mirror {
    private var outage: WholeFile { WholeFile("\(folder)/\(name).outage", in: files) }

    /// The number of seconds since a process last found the server unreachable; nil if no outage is recorded.
    var outageAge: Int? {
        guard let found = (try? outage.readTrustworthy(upTo: 8)) ?? nil, found.bytes.count == 8 else { return nil }
        let time = found.bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
        let now = Clock.milliseconds
        // A time in the future is ignored, because it only shows that this machine's clock has been set back.
        return time <= now ? Int(clamping: (now - time) / 1_000) : nil
    }

    func noteOutage() {
        guard let file = try? files.open(outage.path, .readWriteOrCreateNoFollow) else { return }
        withUnsafeBytes(of: Clock.milliseconds.littleEndian) { try? files.write(file, $0, at: 0) }
    }

    func forgetOutage() { try? files.remove(outage.path) }
}
