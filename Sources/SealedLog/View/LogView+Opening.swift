import LinuxSystem
import Sealing

/// A vault's header and its copy, as read from the file. ``view(with:)`` authenticates them.
struct HeaderImage {
    let store: any RecordStore
    /// The fields of the header, or the reason why they cannot be read.
    let header: Result<Header, LogError>
    private let bytes: [UInt8]

    /// - Throws: `damaged` if the file is shorter; `unavailable`.
    init(of store: any RecordStore) throws(LogError) {
        self.store = store
        let bytes = try store.available(at: 0, upTo: 2 * Header.size)
        guard !bytes.isEmpty else { throw LogError.damaged("the file is empty") }
        guard bytes.count == 2 * Header.size else { throw LogError.damaged("the file is cut within its header") }
        self.bytes = bytes
        header = Result { () throws(LogError) in try Header(parsing: Array(bytes[..<Header.size])) }
    }

    /// Derives the subkeys from the data key in the slot that `key` opens.
    ///
    /// - Throws: `damaged`, `newerFormat`, `keyWrong`, `outOfMemory`.
    func unlock(with key: borrowing KeyFile) throws(LogError) -> KeyRing {
        do throws(LogError) { return try header.get().unlock(with: key) } catch {
            guard let copy = copy(after: error) else { throw error }
            // All slots that are tried, of header and copy, may ask for no more work than those of one header.
            let tried = (try? header.get().slots) ?? []
            guard Header.isBearable(copy.slots + tried.filter { !copy.slots.contains($0) }),
                let keys = try? copy.unlock(with: key)
            else { throw error }
            throw explained(error, keys)
        }
    }

    /// Authenticates the header.
    ///
    /// - Returns: the view of a log that has not been followed yet, and where its newest minor checkpoint may be.
    /// - Throws: `damaged`, `newerFormat`.
    func view(with keys: KeyRing) throws(LogError) -> (view: LogView, hint: Hint?) {
        do throws(LogError) {
            let header = try header.get()
            let bytes = Array(bytes[..<Header.size])
            let authenticator = try Header.authenticate(bytes, with: keys)
            let view = LogView(store: store, keys: keys, header: header, authenticator: authenticator)
            return (view, Header.hint(in: bytes))
        } catch { throw explained(error, keys) }
    }

    /// Returns the header's copy if it may show that a changed header is behind an error: a changed slot looks like a
    /// wrong key, and a changed version like a newer format.
    private func copy(after error: LogError) -> Header? {
        guard [.damaged, .keyWrong, .newerFormat].contains(error.code), !Header.copyHolds(in: bytes) else { return nil }
        return try? Header(parsing: Array(bytes[Header.copyOffset...]))
    }

    private func explained(_ error: LogError, _ keys: KeyRing) -> LogError {
        guard copy(after: error) != nil,
            (try? Header.authenticate(Array(bytes[Header.copyOffset...]), with: keys)) != nil
        else { return error }
        let what = error.code == .damaged ? error.detail : "the header"
        return .damaged("\(what), while its copy at byte \(Header.copyOffset) is whole")
    }
}

extension LogView {
    /// Reads a whole log, without a hint, while no process can write to it.
    static func settled(_ store: any RecordStore, _ keys: KeyRing) throws(LogError) -> LogView {
        var (view, _) = try HeaderImage(of: store).view(with: keys)
        _ = try view.followToEnd(from: nil, durable: nil, isSettled: true)
        return view
    }

    /// Reads the file that is at the path now, while no process can write to it.
    ///
    /// - Parameter seen: what this machine remembers of the vault; read before the file.
    /// - Throws: `exchanged` if it is another vault, `rolledBack` or `diverged` if it lacks what this view knows or what
    ///   was seen; also what opening throws.
    func reopened(until deadline: Deadline, knowing seen: LogPosition?) throws(LogError) -> LogView {
        while true {
            let store = try store.reopened()
            let lock = try store.lock(.shared, until: deadline)
            guard try store.isCurrent() else { continue }
            let view = try reopened(on: store, knowing: seen)
            lock.release()
            return view
        }
    }

    /// Reads a store whose lock is held, as ``reopened(until:knowing:)`` does.
    func reopened(on store: any RecordStore, knowing seen: LogPosition?) throws(LogError) -> LogView {
        let image = try HeaderImage(of: store)
        if case .success(let header) = image.header, header.vaultID != self.header.vaultID {
            throw LogError(.exchanged, store.location)
        }
        var (view, hint) = try image.view(with: keys)
        let known = [durable] + (seen.map { [$0] } ?? [])
        _ = try view.followToEnd(from: hint, durable: durable, covering: known, isSettled: true)
        for position in known {
            if let alarm = try view.alarm(against: position) { throw alarm }
        }
        return view
    }
}
