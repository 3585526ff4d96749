import LinuxSystem
import Sealing

extension SealedLog {
    /// A file under the log's path, and the checkpoint in it.
    struct Location: Hashable, Sendable {
        let origin: Authenticator
        let file: FileStatus.Identity?
    }

    /// Before the first acknowledgement the file's name has to be on the disk too.
    func makeLocationDurable(_ writer: inout Writer) throws(LogError) {
        let (store, origin) = view.withLock { ($0.store, $0.origin.authenticator) }
        let location = Location(origin: origin, file: store.identity)
        guard writer.durableLocation != location else { return }
        writer.rememberedMark = try flushName(of: store, origin: origin, knowing: writer.rememberedMark)
        writer.durableLocation = location
    }

    /// Flushes the name of a file, and remembers that, unless the memory knows that it was done.
    ///
    /// - Parameter known: the mark of the file whose name the memory knows to be durable.
    /// - Returns: the mark of this one.
    @discardableResult
    func flushName(
        of store: any RecordStore, origin: Authenticator, knowing known: Authenticator?
    ) throws(LogError) -> Authenticator? {
        // Before the flush: what changes after it is not covered.
        let mark = memory?.mark(of: Location(origin: origin, file: store.identity))
        guard mark == nil || mark != known else { return mark }
        try store.synchronizeLocation()
        memory?.rememberPlace(durable: mark)
        return mark
    }
}
