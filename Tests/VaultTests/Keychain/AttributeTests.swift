import Foundation
import LinuxSystem
import SealedLog
import TestSupport
import Testing

@testable import Vault

/// Attributes and commands are compared by bytes, and policies are kept to.
@Suite struct AttributeTests {
    private let fixture: KeychainFixture
    private let keychain: Keychain

    init() throws {
        fixture = try KeychainFixture()
        keychain = try fixture.open()
    }

    @Test(arguments: [("K", "\u{212A}"), ("a;b", "a\u{37E}b"), ("\u{E9}", "e\u{301}")])
    func anEntryIsFoundByTheBytesOfItsAttributes(stored: String, other: String) throws {
        #expect(stored == other)
        try keychain.set("a", to: "1", attributes: ["host": stored])
        try keychain.set("b", to: "2", attributes: ["host": other])
        #expect(try keychain.items(attributes: ["host": stored]).map(\.name) == ["a"])
        #expect(try keychain.items(attributes: ["host": other]).map(\.name) == ["b"])
        // Another spelling is a change.
        _ = try keychain.setAttributes(of: "a", ["host": other])
        #expect(try keychain.items(attributes: ["host": stored]).isEmpty)
        #expect(Attribute(key: stored, value: "x") != Attribute(key: other, value: "x"))
    }

    @Test func aCommandThatSwiftTakesForTheNamedOneIsNotAllowed() throws {
        var location = fixture.location
        location.keyCommand = "cat a; cat b"
        let files = PosixFileSystem()
        let id = [UInt8](repeating: 7, count: 16)
        #expect(try location.allows(command: "cat a; cat b", ofVault: id, in: files))
        #expect(try !location.allows(command: "cat a\u{37E} cat b", ofVault: id, in: files))
    }

    @Test func aRefusedReadIsRecordedAsRefused() throws {
        try keychain.set("bank", to: "1", attributes: ["policy": "run"])
        try keychain.accessLog.set(on: true)
        func read(by reader: String) throws {
            _ = try keychain.read("bank", for: reader) { Access(to: "bank", by: reader) }
        }
        #expect(try VaultError.code { try read(by: "get") } == .guarded)
        try read(by: "run")
        let accesses = try keychain.accessLog.report().records.map(\.access)
        #expect(accesses.map(\.command) == ["get: refused", "run"] && accesses.map(\.isRefused) == [true, false])
    }
}
