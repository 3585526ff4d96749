/// Writes one after the other into a store, a mebibyte at a time.
struct StoreSink: ByteSink {
    let store: any RecordStore
    private var buffer: [UInt8] = []
    private var flushed: UInt64

    init(store: any RecordStore, start: UInt64) {
        self.store = store
        flushed = start
    }

    var offset: UInt64 { flushed + UInt64(buffer.count) }

    mutating func write(_ bytes: UnsafeRawBufferPointer) throws(LogError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= 1 << 20 { try flush() }
    }

    mutating func writeZeros(to end: UInt64) throws(LogError) {
        try write([UInt8](repeating: 0, count: Int(end - offset)))
    }

    mutating func flush() throws(LogError) {
        try store.write(buffer, at: flushed)
        flushed += UInt64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }
}
