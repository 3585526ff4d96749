import TestSupport

/// A vault in an object store.
final class ObjectStorage: VaultStorage {
    private let bucket: Bucket
    private let foreign: Bucket.Contents
    private var backUp = Bucket.Contents()
    private var change: Change?

    private enum Change {
        case exchange(former: Bucket.Contents)
        case bit(Bucket.Bit)
    }

    /// - Parameter foreign: the objects of another vault; empty if there is none.
    init(_ bucket: Bucket, foreign: Bucket.Contents) {
        self.bucket = bucket
        self.foreign = foreign
    }

    func takeBackUp() -> Bool {
        backUp = bucket.contents
        return !backUp.isEmpty
    }

    func exchange(for other: OtherVault, overwriting: Bool) -> Bool {
        let contents = other == .foreign ? foreign : backUp
        guard !contents.isEmpty, !bucket.contents.isEmpty else { return false }
        change = .exchange(former: bucket.contents)
        bucket.contents = contents
        return true
    }

    func changeByte(at location: Double, bit: Double) -> Bool {
        guard let bit = bucket.bit(at: location, bit) else { return false }
        change = .bit(bit)
        return bucket.flip(bit)
    }

    func putBack() -> Bool {
        defer { change = nil }
        switch change {
        case nil: return true
        case .exchange(let former):
            bucket.contents = former
            return true
        case .bit(let bit): return bucket.flip(bit)
        }
    }
}
