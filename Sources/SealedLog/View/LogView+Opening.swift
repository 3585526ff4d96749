extension LogView {
    /// Reads and authenticates a vault's header.
    ///
    /// - Parameter unlock: gives the subkeys for the header, for example from a key file.
    /// - Throws: `damaged`, `newerFormat`, `unavailable`, or what `unlock` throws.
    static func start(
        _ store: any RecordStore, unlock: (Header) throws(LogError) -> KeyRing
    ) throws(LogError) -> (view: LogView, hint: Hint?) {
        let image = try store.available(at: 0, upTo: 2 * Header.size)
        guard !image.isEmpty else { throw LogError.damaged("the file is empty") }
        guard image.count == 2 * Header.size else { throw LogError.damaged("the file is cut within its header") }
        let bytes = Array(image[..<Header.size])
        var (tried, keys): ([KeySlot], KeyRing?) = ([], nil)
        do throws(LogError) {
            let header = try Header(parsing: bytes)
            tried = header.slots
            let ring = try unlock(header)
            keys = ring
            let authenticator = try Header.authenticate(bytes, with: ring)
            return (
                LogView(store: store, keys: ring, header: header, authenticator: authenticator), Header.hint(in: bytes)
            )
        } catch {
            // A changed slot passes for a wrong key, a changed version for a later one, if the copy does not tell.
            guard [.damaged, .keyWrong, .newerFormat].contains(error.code), copyIsSound(in: image, keys, tried, unlock)
            else { throw error }
            let what = error.code == .damaged ? error.detail : "the header"
            throw LogError.damaged("\(what), while its copy at byte \(Header.copyOffset) is whole")
        }
    }

    /// Whether the header's copy is not what the header is, and authenticates.
    ///
    /// - Parameters:
    ///   - keys: those that a slot of the header gave; nil if none did.
    ///   - tried: the header's slots. Together with those of the copy they may ask for no more than a header may.
    private static func copyIsSound(
        in image: [UInt8], _ keys: KeyRing?, _ tried: [KeySlot], _ unlock: (Header) throws(LogError) -> KeyRing
    ) -> Bool {
        let copy = Array(image[Header.copyOffset...])
        guard !Header.copyHolds(in: image), let header = try? Header(parsing: copy) else { return false }
        let all = header.slots + tried.filter { !header.slots.contains($0) }
        guard Header.isBearable(all), let keys = keys ?? (try? unlock(header)) else { return false }
        return (try? Header.authenticate(copy, with: keys)) != nil
    }

    /// Follows the log to its end, and makes sure that nothing lies behind it.
    ///
    /// - Parameter isSettled: whether nobody can write now, so that what fails is judged; otherwise it is reported.
    /// - Returns: whether the log came to a clean end.
    mutating func followToEnd(_ hint: Hint?, durable: LogPosition?, isSettled: Bool) throws(LogError) -> Bool {
        let size = try store.size()
        guard size >= end else { throw LogError.damaged("the file is cut within its checkpoint") }
        var reader = RecordReader(store: store, keys: keys, vaultID: header.vaultID)
        try follow(hint, &reader, durable: durable)
        let ending = try catchUp(&reader, durable: durable)
        // Someone who writes may have made the file longer meanwhile.
        let tail = max(size, end) - end
        guard tail <= Limits.tailSize else {
            throw LogError.damaged("\(tail >> 20) MiB lie behind the log's end, more than a record takes,", at: end)
        }
        if isSettled {
            try judgeTail(ending, &reader)
            return true
        }
        guard case .clean = ending else { return false }
        let survey = try surveyTail(&reader)
        needsClearing = !survey.isZero
        return !survey.isForeign
    }

    /// What is wrong with this view if a moment is known to have been durable: it is older, or has another history.
    func alarm(against position: LogPosition) throws(LogError) -> LogError? {
        guard position.sequence <= head.sequence else {
            return LogError(
                .rolledBack, "change \(head.sequence), but change \(position.sequence) was seen here")
        }
        return try contains(position) == false ? LogError(.diverged, "change \(position.sequence)") : nil
    }

    /// Whether the history that this view knows contains a moment: nil if it does not reach back that far.
    func contains(_ position: LogPosition) throws(LogError) -> Bool? {
        if let first = passed.first, position.sequence >= first.sequence {
            let index = position.sequence - first.sequence
            guard index < UInt64(passed.count) else { return false }
            return passed[Int(index)] == position
        }
        if position == origin { return true }
        guard position.sequence < origin.sequence else { return nil }
        return try manifest().contains(position, before: origin)
    }
}
