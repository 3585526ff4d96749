import Foundation
import Testing

@testable import VaultCommand

/// What an executable is linked from, beside what a machine has.
@Suite struct LibraryTests {
    // MARK: The order of versions

    /// Each is lower than the next.
    private static let ascending = [
        "0.9~~", "0.9~~a", "0.9~", "0.9", "0.9a", "0.9+", "0.9+a", "0.9.1", "0.10", "0.10-1", "0.10-1+deb12u1",
        "0.10-1+deb12u2", "0.10-1+deb12u10", "0.10-2~bpo1", "0.10-2", "1.0.18-1", "1.0.18-1+deb12u1",
        "3.0.19-1~deb12u2",
        "3.0.19-1", "10", "1:0.1", "1:0.2-1", "2:0",
    ]

    @Test func versionsAreInDebiansOrder() {
        for (index, version) in Self.ascending.enumerated() {
            for (other, otherVersion) in Self.ascending.enumerated() {
                #expect((DebianVersion(version) < DebianVersion(otherVersion)) == (index < other))
                #expect((DebianVersion(version) == DebianVersion(otherVersion)) == (index == other))
            }
        }
    }

    @Test(arguments: [
        ("1.0", "0:1.0"), ("1.0", "1.0-0"), ("1.00", "1.0"), ("1.0", "1.0-"), ("1.001", "1.1"), ("0", "000"),
        ("99999999999999999999999", "099999999999999999999999"), ("1-a0", "1-a"),
    ]) func severalTextsAreOneVersion(one: String, other: String) {
        #expect(DebianVersion(one) == DebianVersion(other))
    }

    @Test(.disabled(if: access("/usr/bin/dpkg", X_OK) != 0, "there is no dpkg"))
    func versionsAreInTheOrderOfDpkg() throws {
        var numbers = SystemRandomNumberGenerator()
        let signs = ["0", "1", "9", "a", "Z", "~", "+", ".", "-", "00"]
        func part() -> String {
            (0..<Int.random(in: 0..<6, using: &numbers)).map { _ in signs.randomElement() ?? "" }.joined()
        }
        for _ in 0..<200 {
            let start = "1" + part()
            // No version ends with a hyphen.
            let one = start + part() + "1"
            let other = (Bool.random() ? start : "1") + part() + "1"
            let order = try dpkg(one, "lt", other) ? -1 : try dpkg(one, "eq", other) ? 0 : 1
            let left = DebianVersion(one)
            let right = DebianVersion(other)
            #expect((left < right ? -1 : left == right ? 0 : 1) == order, "\(one) \(other)")
        }
    }

    private func dpkg(_ one: String, _ relation: String, _ other: String) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/dpkg")
        process.arguments = ["--compare-versions", one, relation, other]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    // MARK: What is linked

    private let table = "libexpat1-dev 2.5.0-1+deb12u1 expat 2.5.0-1+deb12u1\nlibc6-dev 2.36-9 glibc 2.36-9\n"

    @Test func theTableOfTheBuildIsRead() {
        #expect(
            LinkedLibrary.parse(table)
                == [
                    LinkedLibrary(
                        package: "libexpat1-dev", version: "2.5.0-1+deb12u1", source: "expat",
                        sourceVersion: "2.5.0-1+deb12u1"),
                    LinkedLibrary(package: "libc6-dev", version: "2.36-9", source: "glibc", sourceVersion: "2.36-9"),
                ])
        #expect(LinkedLibrary.parse("") == nil && LinkedLibrary.parse("\nnothing of it\n") == nil)
    }

    private func check(_ status: String) throws -> HealthCheck {
        LibraryCheck.check(try #require(LinkedLibrary.parse(table)), installed: Array(status.utf8))
    }

    private func package(_ lines: String..., status: String = "install ok installed") -> String {
        "Status: \(status)\nDescription: a package\n with more: lines\nVersions: 9\n" + lines.joined(separator: "\n")
            + "\n"
    }

    @Test func aLibraryThatTheMachineHasInANewerRevisionIsWarnedAbout() throws {
        let newer = package("Package: libexpat1", "Source: expat", "Version: 2.5.0-1+deb12u5")
        let same = package("Package: libc6", "Source: glibc", "Version: 2.36-9")
        for status in [newer, newer + "\n" + same, same + "\n" + newer + "\n\n"] {
            let found = try check(status)
            #expect(found.state == .warning && found.message.contains("expat 2.5.0-1+deb12u1 (here 2.5.0-1+deb12u5)"))
            #expect(!found.message.contains("glibc"))
        }
    }

    @Test func theRevisionOfTheSourceCounts() throws {
        let binary = package("Package: libexpat1", "Source: expat (2.5.0-1+deb12u1)", "Version: 9:1")
        #expect(try check(binary).state == .ok)
        let older = package("Package: libexpat1", "Source: expat (2.5.0-1+deb12u2)", "Version: 1")
        #expect(try check(older).state == .warning)
        #expect(try check(package("Package: expat", "Version: 3")).state == .warning)
    }

    @Test func whatIsNotInstalledOrSomethingElseIsNoneOfIt() throws {
        let removed = package("Package: expat", "Version: 3", status: "deinstall ok config-files")
        let halfway = package("Package: expat", "Version: 3", status: "install reinstreq half-installed")
        let other = package("Package: expat-doc", "Source: expat-doc", "Version: 3")
        for status in ["", removed, halfway, other, "Package: expat\nVersion: 3\n", "\n\n\u{0}\u{FFFD}:\n:\n"] {
            #expect(try check(status).state == .ok)
        }
    }
}
