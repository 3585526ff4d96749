import LinuxSystem
import Sealing

extension SealedLog {
    /// Makes everything durable that can be read by now, and the name of the file with it.
    ///
    /// Writing does the same on its way: the newest record may be one that another process wrote and was killed before it flushed.
    ///
    /// - Throws: `busy`, `unavailable`; `outcomeUnknown` after a write of that kind; what a replaced file may bring.
    package func makeDurable(timeout: Duration) throws(LogError) {
        try writer.withLock { (writer) throws(LogError) in
            let lock = try lockForWriting(&writer, until: Deadline(after: timeout))
            try makeLocationDurable(&writer)
            lock.release()
        }
    }
}
