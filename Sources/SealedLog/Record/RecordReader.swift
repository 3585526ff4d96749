import LinuxSystem
import Sealing

/// Reads records, many with one system call.
struct RecordReader {
    /// What lies at an offset.
    enum Finding {
        /// Nothing: zeros, or the end of the file.
        case nothing
        case record(Record)
        /// Something whose index does not open: a record that was torn, or changed.
        case failing(StaticString)
        /// An index that opens, but does not belong here or breaks the format: no writer leaves that behind.
        case foreign(StaticString)
    }

    /// As large as the zeros ahead: a larger window costs more page faults than it saves system calls.
    static let windowSize = Int(Limits.growth)

    let store: any RecordStore
    let keys: KeyRing
    let vaultID: [UInt8]
    private var window: [UInt8] = []
    /// How many bytes of the window were read.
    private var windowCount = 0
    private var windowPlace: UInt64 = 0
    /// The index that was opened last, at its beginning. One piece of memory for all of them: a tail has up to 512.
    private var opened: [UInt8] = []
    /// Whether the window reaches to the end of the file.
    private var windowIsLast = false

    init(store: any RecordStore, keys: KeyRing, vaultID: [UInt8]) {
        self.store = store
        self.keys = keys
        self.vaultID = vaultID
    }

    /// Reads the record at an offset.
    ///
    /// - Parameter previous: the position that it has to follow; nil if any will do.
    mutating func record(at offset: UInt64, after previous: LogPosition?) throws(LogError) -> Finding {
        let head = try bytes(at: offset, upTo: Frame.headSize)
        if head.allSatisfy({ $0 == 0 }) { return .nothing }
        guard head.count == Frame.headSize, let frame = head.withUnsafeBytes({ Frame($0, vaultID: vaultID) }) else {
            return .failing("no record begins here")
        }
        let nonce = RecordReader.nonce(inHead: head)
        let box = try bytes(at: offset + UInt64(Frame.headSize), upTo: frame.indexLength)
        guard box.count == frame.indexLength else { return .failing("a record is cut") }
        guard open(box, nonce) else { return .failing("a record does not authenticate") }
        let plaintext = ByteReader(opened, in: 0..<box.count - SecretBox.tagSize)
        guard let index = try? RecordIndex(parsing: plaintext), !index.isNotice || frame.payloadLength == 0 else {
            return .foreign("a record breaks the format")
        }
        let record = Record(
            offset: offset, frame: frame, index: index, authenticator: box.withUnsafeBytes { Authenticator($0) })
        // The frame is not sealed: without this whoever can write the file could make it as long as they like.
        guard record.endsAsNamed else { return .foreign("a record does not end where what it names does") }
        if let previous {
            guard index.sequence == previous.sequence + 1, index.previous == previous.authenticator else {
                return .foreign("a record does not follow the one before")
            }
        }
        return .record(record)
    }

    /// Taken out before the box is read: a slice of the window that is still in use makes the next read copy it.
    static func nonce(inHead head: ArraySlice<UInt8>) -> Nonce {
        head.withUnsafeBytes { Nonce(UnsafeRawBufferPointer(rebasing: $0[Frame.size...])) }
    }

    /// Opens an index to the beginning of `opened`; false if it does not authenticate.
    private mutating func open(_ box: ArraySlice<UInt8>, _ nonce: Nonce) -> Bool {
        guard box.count >= SecretBox.tagSize else { return false }
        let size = box.count - SecretBox.tagSize
        if opened.count < size { opened = [UInt8](repeating: 0, count: size) }
        return opened.withUnsafeMutableBytes { opened in
            let plaintext = UnsafeMutableRawBufferPointer(rebasing: opened[..<size])
            return box.withUnsafeBytes { (try? keys.open($0, for: .record, nonce: nonce, into: plaintext)) != nil }
        }
    }

    /// Whether the payload is the one that the index names.
    func payloadHolds(_ record: Record) throws(LogError) -> Bool {
        var hash = RunningHash()
        var offset = record.payload.lowerBound
        while offset < record.payload.upperBound {
            let count = Int(min(record.payload.upperBound - offset, 1 << 20))
            let piece = try store.available(at: offset, upTo: count)
            guard piece.count == count else { return false }
            piece.withUnsafeBytes { hash.update($0) }
            offset += UInt64(count)
        }
        return hash.finish() == record.index.payloadHash
    }

    /// The bytes at an offset, as many as there are; from the window, or read into it.
    mutating func bytes(at offset: UInt64, upTo count: Int) throws(LogError) -> ArraySlice<UInt8> {
        if offset < windowPlace || (offset + UInt64(count) > windowEnd && !(windowIsLast && offset <= windowEnd)) {
            let wanted = max(count, RecordReader.windowSize)
            if window.count < wanted {
                // Not filled in: each page of it is touched only when something is read there.
                window = [UInt8](unsafeUninitializedCapacity: wanted) { $1 = wanted }
            }
            windowCount = 0
            windowCount = try window.withMutableRawBytes { (window) throws(LogError) in
                try store.read(into: UnsafeMutableRawBufferPointer(rebasing: window[..<wanted]), at: offset)
            }
            windowPlace = offset
            // What lies behind the end of the file now is read with the next window, not by asking again.
            windowIsLast = windowCount < wanted
        }
        let start = Int(offset - windowPlace)
        return window[start..<min(start + count, windowCount)]
    }

    private var windowEnd: UInt64 { windowPlace + UInt64(windowCount) }
}
