import Sealing

extension FileRecordStore {
    /// All that the file holds, and its status from before it was read: where the two differ in size, someone wrote meanwhile.
    ///
    /// - Parameter limit: bytes, a multiple of 1 MiB.
    /// - Throws: `damaged` if it is larger than that; `unavailable`.
    package func contents(upTo limit: UInt64) throws(LogError) -> ([UInt8], FileStatus) {
        let status = try status()
        guard status.size <= limit else { throw LogError(.damaged, "it is larger than \(limit >> 20) MiB") }
        var bytes = [UInt8](repeating: 0, count: Int(status.size))
        let count = try bytes.withMutableRawBytes { (bytes) throws(LogError) in try read(into: bytes, at: 0) }
        bytes.removeLast(bytes.count - count)
        return (bytes, status)
    }
}
