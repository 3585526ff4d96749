import Sealing

/// Reads and opens pages.
struct PageLoader: Sendable {
    let store: any RecordStore
    let keys: KeyRing

    /// - Parameter level: the level that the page has to have; nil for a root.
    /// - Throws: `damaged`, `unavailable`.
    func load(_ reference: PageReference, level: UInt8?) throws(LogError) -> Page {
        let box = try store.bytes(at: reference.offset, count: reference.length)
        guard let bytes = box.withUnsafeBytes({ keys.open($0, for: .page, nonce: reference.nonce) }) else {
            throw LogError.damaged("a page of the index", at: reference.offset)
        }
        do throws(Malformed) {
            let page = try Page(parsing: bytes)
            guard level == nil || page.level == level else { throw Malformed("a page's level") }
            return page
        } catch { throw LogError.damaged("a page of the index (\(error.what))", at: reference.offset) }
    }
}
