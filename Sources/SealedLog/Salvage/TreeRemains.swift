/// Reads what is left of a tree.
struct TreeRemains {
    /// The pages that do not open, and the names below them.
    private(set) var lost: [(offset: UInt64, names: NameRange)] = []
    private let loader: PageLoader

    /// - Parameter take: called with the entries in the order of their names.
    /// - Throws: `unavailable`.
    init(root: PageReference?, loader: PageLoader, take: (Entry) -> Void) throws(LogError) {
        self.loader = loader
        if let root { try read(root, level: nil, NameRange(), take) }
    }

    private mutating func read(
        _ reference: PageReference, level: UInt8?, _ names: NameRange, _ take: (Entry) -> Void
    ) throws(LogError) {
        do throws(LogError) {
            let page = try loader.load(reference, level: level)
            if page.isLeaf {
                for entry in try page.entries(at: reference.offset) { take(entry) }
            } else {
                for (child, names) in try page.children(at: reference.offset, within: names) {
                    try read(child, level: page.level - 1, names, take)
                }
            }
        } catch {
            guard error.code == .damaged else { throw error }
            lost.append((reference.offset, names))
        }
    }
}

extension Page {
    fileprivate func entries(at offset: UInt64) throws(LogError) -> [Entry] {
        do throws(Malformed) {
            return try (0..<count).map { (index) throws(Malformed) in try entry(index) }
        } catch { throw LogError.damaged("a page of the index (\(error.what))", at: offset) }
    }

    fileprivate func children(
        at offset: UInt64, within names: NameRange
    ) throws(LogError) -> [(PageReference, NameRange)] {
        do throws(Malformed) {
            var children: [(PageReference, NameRange)] = []
            for index in 0..<count {
                // The first child also covers names before its first one.
                let lower = index > 0 ? try name(index) : names.lower
                let upper = index + 1 < count ? try name(index + 1) : names.upper
                children.append((try child(index), NameRange(lower: lower, upper: upper)))
            }
            return children
        } catch { throw LogError.damaged("a page of the index (\(error.what))", at: offset) }
    }
}
