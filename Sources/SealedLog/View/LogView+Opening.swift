extension LogView {
    /// Reads and authenticates a vault's header.
    ///
    /// - Parameter unlock: gives the subkeys for the header, for example from a key file.
    /// - Throws: `damaged`, `newerFormat`, `unavailable`, or what `unlock` throws.
    static func start(
        _ store: any RecordStore, unlock: (Header) throws(LogError) -> KeyRing
    ) throws(LogError) -> (view: LogView, hint: Hint?) {
        let bytes = try store.available(at: 0, upTo: Header.size)
        guard !bytes.isEmpty else { throw LogError.damaged("the file is empty") }
        guard bytes.count == Header.size else { throw LogError.damaged("the file is cut within its header") }
        let header = try Header(parsing: bytes)
        let keys = try unlock(header)
        let authenticator = try Header.authenticate(bytes, with: keys)
        return (
            LogView(store: store, keys: keys, header: header, authenticator: authenticator), Header.hint(in: bytes)
        )
    }

    /// Follows the log to its end, and makes sure that nothing lies behind it.
    ///
    /// - Parameter isSettled: whether nobody can write now, so that what fails is judged; otherwise it is reported.
    /// - Returns: whether the log came to a clean end.
    mutating func followToEnd(_ hint: Hint?, durable: Moment?, isSettled: Bool) throws(LogError) -> Bool {
        guard try store.size() >= end else { throw LogError.damaged("the file is cut within its checkpoint") }
        var reader = RecordReader(store: store, keys: keys, vaultID: header.vaultID)
        try follow(hint, &reader, durable: durable)
        let ending = try catchUp(&reader, durable: durable)
        if isSettled {
            try judgeTail(ending, &reader)
            return true
        }
        guard case .clean = ending else { return false }
        let survey = try surveyTail(&reader)
        needsClearing = !survey.isZero
        return survey.record == nil
    }

    /// What is wrong with this view if a moment is known to have been durable: it is older, or has another history.
    func alarm(against moment: Moment) throws(LogError) -> LogError? {
        guard moment.sequence <= head.sequence else {
            return LogError(
                .rolledBack, "change \(head.sequence), but change \(moment.sequence) was seen here")
        }
        return try contains(moment) == false ? LogError(.diverged, "change \(moment.sequence)") : nil
    }

    /// Whether the history that this view knows contains a moment: nil if it does not reach back that far.
    func contains(_ moment: Moment) throws(LogError) -> Bool? {
        if let first = passed.first, moment.sequence >= first.sequence {
            let index = moment.sequence - first.sequence
            guard index < UInt64(passed.count) else { return false }
            return passed[Int(index)] == moment
        }
        if moment == origin { return true }
        guard moment.sequence < origin.sequence else { return nil }
        let chain = try manifest().chain
        let distance = origin.sequence - moment.sequence
        guard distance <= UInt64(chain.count) else { return nil }
        return chain[chain.count - Int(distance)] == moment.authenticator
    }
}
