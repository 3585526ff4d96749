import Testing

@testable import SealedFormat
@testable import SealedLog

extension SealedLog {
    /// What the log says that it holds has to be what a recount gives.
    func expectTotalsToBeRight(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let information = try information()
        let entries = try entries()
        try #require(information.entries == entries.count, sourceLocation: sourceLocation)
        // Tombstones with a history, too.
        let footprints = try entriesWithHistory().reduce(0) { $0 + Int($1.footprint) }
        try #require(information.liveBytes == footprints, sourceLocation: sourceLocation)
    }
}
