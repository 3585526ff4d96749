import Sealing
import Synchronization

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
        // Before the flush: what changes after it is not covered.
        let mark = memory?.mark(of: location)
        if mark == nil || mark != writer.rememberedMark {
            try store.synchronizeLocation()
            try? memory?.rememberPlace(durable: mark)
        }
        writer.durableLocation = location
        writer.rememberedMark = mark
    }
}
