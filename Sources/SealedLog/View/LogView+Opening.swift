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
    /// - Throws: `exchanged` if it is another vault, `rolledBack` or `diverged` if it lacks what this view knows or
    ///   what was seen; also what opening throws.
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

// MARK: - The tail

extension LogView {
    /// What is behind the log's end.
    struct TailSurvey {
        /// Whether there are only zeros.
        var isZero = true
        /// The offset of a valid frame: a record before it was dropped or changed, or these bytes are no writer's.
        var frame: UInt64?
        /// The number of magics where a record may begin; a few can be there by chance.
        var magics = 0

        var isForeign: Bool { frame != nil || magics > Limits.strayMagics }
    }

    /// Searches everything behind the end, except for a record at the end itself. Holes are skipped.
    ///
    /// Anyone can compute a frame's checksum, and its index may be 1 MiB long, so no index is opened here. It need not
    /// be: a writer that is killed leaves no valid frame but its first.
    func surveyTail(_ reader: inout RecordReader) throws(LogError) -> TailSurvey {
        var survey = TailSurvey()
        var (offset, size) = (end, RecordReader.windowSize)
        while true {
            let piece = try reader.bytes(at: offset, upTo: size)
            // The next piece begins with the last bytes of this one: a frame may cross the border.
            let isLast = piece.count < size
            piece.withUnsafeBytes { survey.look(through: $0, at: offset, isLast: isLast, self) }
            guard !isLast, !survey.isForeign else { return survey }
            guard let data = try store.nextData(from: offset + UInt64(size - Frame.alignedSize)) else { return survey }
            (offset, size) = (data & ~(Limits.alignment - 1), 1 << 20)
        }
    }

    /// Decides, while no process can write, what is at the end: a torn tail, which is dropped, or damage.
    ///
    /// - Throws: `damaged`, with the offset.
    mutating func classifyTail(_ ending: Ending, _ reader: inout RecordReader) throws(LogError) {
        let survey = try surveyTail(&reader)
        if let frame = survey.frame {
            throw LogError.damaged("a record is missing or changed before byte \(frame),", at: end)
        }
        guard !survey.isForeign else { throw LogError.damaged("what no writer leaves behind the log's end,", at: end) }
        switch ending {
        case .clean: break
        case .doubtful(let reason):
            guard try isTorn() else { throw LogError.damaged("\(reason),", at: end) }
        case .foreign(let reason): throw LogError.damaged("\(reason),", at: end)
        }
        needsClearing = !survey.isZero
    }

    /// Returns whether the failing record at the end was never acknowledged: it is cut by the end of the file, or a
    /// part of it never reached the disk. Disks write whole sectors of 512 bytes or more, over zeros that were there
    /// before.
    private func isTorn() throws(LogError) -> Bool {
        let head = try store.available(at: end, upTo: Frame.size)
        guard head.count == Frame.size, head.contains(where: { $0 != 0 }) else { return true }
        let frame = head.withUnsafeBytes { Frame($0, vaultID: header.vaultID) }
        let recordEnd = end + (frame?.recordLength ?? UInt64(Frame.size))
        guard try store.size() >= recordEnd else { return true }
        var offset = end
        while offset < recordEnd {
            // Pieces end at sector borders.
            let stop = min(recordEnd, (offset / Limits.sector + 2_048) * Limits.sector)
            let piece = try store.bytes(at: offset, count: Int(stop - offset))
            if piece.withUnsafeBytes({ $0.hasZeroSector(at: offset) }) { return true }
            offset = stop
        }
        return false
    }
}

extension LogView.TailSurvey {
    fileprivate mutating func look(
        through bytes: UnsafeRawBufferPointer, at offset: UInt64, isLast: Bool, _ view: LogView
    ) {
        guard !bytes.isZero else { return }
        isZero = false
        for index in bytes.recordMagics() {
            magics += 1
            let found = offset + UInt64(index)
            let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
            if found > view.end, Frame(rest, vaultID: view.header.vaultID) != nil {
                frame = found
                return
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The indices from `start` on, 16 apart, that hold the magic of a record and have room for its frame.
    func recordMagics(from start: Int = 0) -> some Sequence<Int> {
        let magic = Frame.magic.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        return stride(from: start, through: count - Frame.size, by: Int(Limits.alignment)).lazy.filter {
            loadUnaligned(fromByteOffset: $0, as: UInt32.self) == magic
        }
    }

    /// Returns whether these bytes, which are at `offset` in the file, fill a part of a sector with zeros alone.
    fileprivate func hasZeroSector(at offset: UInt64) -> Bool {
        var start = 0
        while start < count {
            let stop = Swift.min(count, start + Int(Limits.sector - (offset + UInt64(start)) % Limits.sector))
            if UnsafeRawBufferPointer(rebasing: self[start..<stop]).isZero { return true }
            start = stop
        }
        return false
    }
}
