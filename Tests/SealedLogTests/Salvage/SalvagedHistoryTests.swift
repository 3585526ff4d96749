import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// What names had before is salvaged too, and what is lost of it is named.
@Suite("Salvage of earlier values")
struct SalvagedHistoryTests {
    private let fixture: LogFixture

    init() throws {
        fixture = try LogFixture(history: KeptHistory(versions: 3, days: 90))
    }

    /// Salvages the vault with a byte changed in the box of each of some versions, 0 for the present one.
    private func salvaged(damaging versions: [(name: String, number: Int)]) throws -> SalvagedVault {
        let log = try fixture.open()
        var bytes = try fixture.bytes
        for (name, number) in versions {
            let entry = try #require(try log.history(.sample(name)))
            let version = number == 0 ? entry.content?.current : entry.earlier[number - 1].version
            bytes[Int(try #require(version).offset)] ^= 1
        }
        return try SalvagedVault(fixture, bytes)
    }

    private func lost(_ name: String, _ number: Int) throws -> SalvageReport.LostVersion {
        let entry = try #require(try fixture.open().history(.sample(name)))
        return SalvageReport.LostVersion(name: name, number: number, modified: entry.earlier[number - 1].modified)
    }

    private func set(_ name: String, _ texts: String...) throws {
        let log = try fixture.open()
        for text in texts { try log.set(name, text) }
    }

    @Test(arguments: [false, true]) func oneThatDoesNotOpenIsNamed(_ isCompacted: Bool) throws {
        try set("b", "1", "2", "3")
        try set("a", "only")
        if isCompacted { try fixture.open().compact() }
        let sound = try fixture.bytes
        for number in [1, 2] {
            let salvaged = try salvaged(damaging: [("b", number)])
            #expect(salvaged.report.lostVersions == [try lost("b", number)])
            #expect(salvaged.earlier == ["b": number == 1 ? ["1"] : ["2"]])
            #expect(salvaged.report.certain == 2 && !salvaged.report.isComplete && !salvaged.report.hasGaps)
            try overwrite(fixture.path, sound)
        }
        #expect(try SalvagedVault(fixture, fixture.bytes).report.isComplete)
    }

    @Test func thoseOfARemovedNameAreNamedAndTheOthersStay() throws {
        try set("b", "1", "2", "3")
        try set("a", "only")
        for name in ["a", "b"] { try fixture.open().remove(name) }
        let salvaged = try salvaged(damaging: [("b", 2), ("a", 1)])
        #expect(salvaged.report.lostVersions == [try lost("a", 1), try lost("b", 2)])
        #expect(salvaged.state == [:] && salvaged.earlier == ["b": ["3", "1"]])
        #expect(salvaged.report.certain == 0 && salvaged.report.lost == [] && !salvaged.report.isComplete)
    }

    /// It is no damage that a vault keeps no more than it was told to.
    @Test func whatTheVaultHadNotKeptIsNotLost() throws {
        try set("a", "0", "1")
        let dropped = try #require(try fixture.open().history(.sample("a"))?.earlier.first?.version.offset)
        try set("a", "2", "3", "4")
        var bytes = try fixture.bytes
        bytes[Int(dropped)] ^= 1
        let salvaged = try SalvagedVault(fixture, bytes)
        #expect(salvaged.earlier == ["a": ["3", "2", "1"]])
        #expect(salvaged.report.lostVersions == [] && salvaged.report.isComplete)
    }

    @Test func theOnesBesideAnEarlierOneThatReplacesALostOneAreNamed() throws {
        try set("a", "0", "1", "2", "3")
        try fixture.open().compact()
        let salvaged = try salvaged(damaging: [("a", 0), ("a", 1), ("a", 3)])
        #expect(salvaged.state == ["a": Array("1".utf8)] && salvaged.earlier == [:])
        #expect(salvaged.report.older == ["a"])
        #expect(salvaged.report.lostVersions == [try lost("a", 1), try lost("a", 3)])
    }

    @Test func aNameThatIsLostIsNamedOnce() throws {
        try set("a", "0", "1")
        try set("b", "present")
        let salvaged = try salvaged(damaging: [("a", 0), ("a", 1)])
        #expect(salvaged.report.lost == ["a"] && salvaged.report.lostVersions == [])
        #expect(salvaged.earlier == [:] && !salvaged.report.isComplete)
    }

    /// Whatever byte is changed.
    @Test func aCompleteSalvageHasAllOfThem() throws {
        for number in 0..<4 { try set("name \(number)", "0", "1", "2") }
        try fixture.open().remove("name 1")
        try fixture.open().compact()
        for number in 2..<5 { try set("name \(number)", "3", "4") }
        try fixture.open().remove("name 2")
        let log = try fixture.open()
        let bytes = try fixture.bytes
        let state = try log.state()
        let earlier = try log.earlierTextsByName()
        var complete = 0
        var incomplete = 0
        for offset in stride(from: Int(Limits.checkpointStart), to: try RecordList(fixture.path).end, by: 13) {
            var changed = bytes
            changed[offset] ^= 1
            let salvaged = try SalvagedVault(fixture, changed)
            if salvaged.report.isComplete {
                complete += 1
                #expect(salvaged.state == state && salvaged.earlier == earlier, "byte \(offset)")
            } else {
                incomplete += 1
            }
        }
        #expect(complete > 5 && incomplete > 50)
    }
}
