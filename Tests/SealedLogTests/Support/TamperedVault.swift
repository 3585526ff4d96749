import Sealing
import TestSupport
import Testing

@testable import SealedFormat

/// A vault whose file someone changes who has no key.
struct TamperedVault {
    let fixture: LogFixture
    /// Twenty names: some in the checkpoint, some in records behind it.
    let state: [String: [UInt8]]
    /// The states after each record, the checkpoint's first.
    let history: [[String: [UInt8]]]
    let file: RecordList

    init() throws {
        fixture = try LogFixture()
        let log = try fixture.open()
        for number in 0..<14 { try log.set("name \(number)", RandomBytes.array(number * 4)) }
        try log.remove("name 13")
        try log.compact()
        var history = [try log.state()]
        for number in 10..<21 {
            try log.set("name \(number)", RandomBytes.array(number == 17 ? 1_200 : number * 3))
            history.append(try log.state())
        }
        try log.remove("name 3")
        history.append(try log.state())
        state = try log.state()
        self.history = history
        file = try RecordList(fixture.path)
        try #require(state.count == 20 && file.records.count == 12)
    }

    /// What opening, reading everything and verifying a changed file comes to: the state, or nil for damage.
    func outcome(of bytes: [UInt8]) throws -> [String: [UInt8]]? {
        try overwrite(fixture.path, bytes)
        do {
            let log = try fixture.open()
            try log.verify()
            return try log.state()
        } catch let error as LogError {
            try #require(error.code == .damaged, "\(error)")
            return nil
        }
    }

    func expectDamage(_ records: [[UInt8]], sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try outcome(of: file.file(with: records)) == nil, sourceLocation: sourceLocation)
    }
}
