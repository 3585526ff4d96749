import Testing

@testable import SealedLog

extension SealedLog {
    /// What the log says that it holds has to be what a recount gives.
    func expectTotalsToBeRight(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let totals = try information().totals
        let entries = try entries()
        try #require(totals.entries == UInt64(entries.count), sourceLocation: sourceLocation)
        try #require(totals.liveBytes == entries.reduce(0) { $0 + $1.footprint }, sourceLocation: sourceLocation)
    }
}
