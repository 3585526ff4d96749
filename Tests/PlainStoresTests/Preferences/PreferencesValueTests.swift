import Foundation
import LinuxSystem
import TestSupport
import Testing

@testable import PlainStores

@Suite("Values in preferences")
struct PreferencesValueTests {
    private let fixture: PreferencesFixture
    private let preferences: Preferences

    init() throws {
        fixture = try PreferencesFixture()
        preferences = fixture.open()
    }

    @Test(arguments: [
        StoredValue.null, .array([.null, .integer(1)]), .dictionary(["a": .null]),
        .date(Date(timeIntervalSinceReferenceDate: 0.1)), .date(Date(timeIntervalSinceReferenceDate: 1)),
        .date(Date(timeIntervalSinceReferenceDate: -63_113_904_000 - 1)),
        .date(Date(timeIntervalSinceReferenceDate: -0.0)), .date(Date(timeIntervalSinceReferenceDate: 252_423_993_599)),
        .date(Date(timeIntervalSinceReferenceDate: 252_423_993_600)), .date(.distantFuture), .date(.distantPast),
        .real(.nan), .real(.infinity), .real(-0.0), .real(Double.leastNonzeroMagnitude), .real(1),
        .integer(Int128(UInt64.max)),
        .integer(Int128(Int64.min)), .string(""), .string("\r\n\t\u{85}\u{2028}😀 "), .data(Data()), .array([]),
        .dictionary([:]), .dictionary(["$nil": .boolean(false)]), .dictionary(["\r": .string("\r")]),
    ])
    func comeBackExactly(_ value: StoredValue) throws {
        try preferences.set("k", value)
        #expect(try fixture.open().value(of: "k") == value)
        _ = try fixture.foreignRead()
    }

    @Test(arguments: [
        StoredValue.string("canary\u{1}"), .string("canary\u{FFFF}"), .array([.string("canary\0")]),
        .dictionary(["\u{1}": .string("canary")]), .integer(Int128(UInt64.max) + 1), .integer(Int128(Int64.min) - 1),
        .dictionary(["$nil": .boolean(true)]), .dictionary(["$date": .real(1)]),
        (0..<600).reduce(StoredValue.string("canary")) { value, _ in .array([value]) },
    ])
    func thatAPropertyListCannotHoldAreRefused(_ value: StoredValue) throws {
        try preferences.set("k", .string("old"))
        let error = #expect(throws: VaultError.self) { try preferences.set("k", value) }
        #expect(error?.code == .invalid)
        #expect(error?.message.contains("canary") == false)
        #expect(try fixture.open().value(of: "k") == .string("old"))
    }

    @Test func areListedInTheOrderOfTheirBytes() throws {
        for key in ["b", "a/2", "a/10", "ä", "a"] { try preferences.set(key, .boolean(true)) }
        #expect(try preferences.keys(prefix: "") == ["a", "a/10", "a/2", "b", "ä"])
        #expect(try preferences.keys(prefix: "a/") == ["a/10", "a/2"])
    }

    @Test func aBatchIsMadeWholeOrNotAtAll() throws {
        try preferences.set("a", .integer(1))
        #expect(try !preferences.commit(StoreBatch(["b": .integer(2)], expecting: ["a": .integer(0)])))
        #expect(try !preferences.commit(StoreBatch(["b": .integer(2)], expecting: ["a": nil])))
        #expect(try preferences.keys(prefix: "") == ["a"])
        #expect(try preferences.commit(StoreBatch(["b": .integer(2), "a": nil], expecting: ["a": .integer(1)])))
        #expect(try preferences.keys(prefix: "") == ["b"])
    }

    @Test(arguments: ["", "a\nb", String(repeating: "k", count: 1_025)])
    func keysThatAreNoneAreRefused(_ key: String) throws {
        #expect(try VaultError.code { try preferences.set(key, .integer(1)) } == .invalid)
        #expect(try VaultError.code { _ = try preferences.value(of: key) } == .invalid)
    }
}

@Suite("Locations of preferences")
struct PreferencesPathTests {
    @Test func differForEachSuiteAndStayInTheirFolder() throws {
        let suites = [
            "a", "A", "a.b", ".a", "..", ".", "a/b", "../a", "%2E", "a%2Fb", "ü", "u\u{308}", " ", "a b", "\0",
        ]
        let paths = try suites.map { try Preferences.path(ofSuite: $0) }
        #expect(Set(paths).count == suites.count)
        let folders = Set(paths.map { ($0 as NSString).deletingLastPathComponent })
        #expect(folders.count == 1)
        for path in paths { #expect((path as NSString).standardizingPath == path && path.hasSuffix(".plist")) }
        #expect(paths.allSatisfy { !($0 as NSString).lastPathComponent.hasPrefix(".") })
    }

    @Test(arguments: ["", String(repeating: "x", count: 201), String(repeating: "ü", count: 40)])
    func areRefusedForNamesThatAreNone(_ suite: String) throws {
        let preferences = Preferences(suite: suite)
        #expect(try VaultError.code { _ = try preferences.value(of: "k") } == .invalid)
        #expect(try VaultError.code { try preferences.set("k", .integer(1)) } == .invalid)
    }
}
