extension ValueStore {
    public func contents(prefix: String) throws(VaultError) -> [String: StoredValue] {
        var contention = Contention()
        var former = try readContents(prefix)
        while true {
            let contents = try readContents(prefix)
            guard contents != former else { return contents }
            former = contents
            try contention.pause()
        }
    }

    private func readContents(_ prefix: String) throws(VaultError) -> [String: StoredValue] {
        var contents: [String: StoredValue] = [:]
        for key in try keys(prefix: prefix) { contents[key] = try value(of: key) }
        return contents
    }
}
