import Foundation
import Testing
import Vault
import VaultTesting

private enum Plain: String, StoredObject { case on, off }
private enum Numbered: UInt16, StoredObject {
    case one = 1
    case two
}
private enum AlsoCodable: String, Codable, StoredObject { case on, off }
private enum AsCodable: String, Codable, StoredAsCodable { case on, off }
private enum NumberedAsCodable: Int, Codable, StoredAsCodable {
    case one = 1
    case two
}

@Suite("Enums", .temporaryStores)
struct CodableEnumTests {
    @Test func areStoredByTheirRawValue() throws {
        let memory = MemoryStore.standard
        try RAMStorable<Plain>("k").write(.off)
        #expect(memory.value(of: "k") == .string("off"))
        #expect(try RAMStorable<AlsoCodable>("k").read() == .off)
        #expect(try RAMStorable<AsCodable>("k").read() == .off)
        try RAMStorable<AlsoCodable>("k").write(.on)
        #expect(memory.value(of: "k") == .string("on"))
        try RAMStorable<AsCodable>("k").write(.off)
        #expect(memory.value(of: "k") == .string("off"))
        #expect(try RAMStorable<Plain>("k").read() == .off)
        try RAMStorable<Numbered>("n").write(.two)
        #expect(memory.value(of: "n") == .integer(2))
        #expect(try RAMStorable<NumberedAsCodable>("n").read() == .two)
        try RAMStorable<[NumberedAsCodable]>("n").write([.one])
        #expect(memory.value(of: "n") == .array([.integer(1)]))
    }

    @Test func withAnUnknownRawValueAreUnreadable() throws {
        try RAMStorable<String>("k").write("canary")
        let plain = #expect(throws: VaultError.self) { try RAMStorable<Plain>("k").read() }
        let codable = #expect(throws: VaultError.self) { try RAMStorable<AsCodable>("k").read() }
        #expect(plain?.code == .unreadable && codable?.code == .unreadable)
        #expect(codable?.message == plain?.message.replacing("Plain", with: "AsCodable"))
        #expect(codable?.message.contains("canary") == false)
    }

    @Test func withARawValueOfAnotherTypeNameBothTypes() throws {
        try RAMStorable<Int>("k").write(1)
        let plain = #expect(throws: VaultError.self) { try RAMStorable<Plain>("k").read() }
        let codable = #expect(throws: VaultError.self) { try RAMStorable<AsCodable>("k").read() }
        #expect(plain?.code == .wrongType && codable?.code == .wrongType)
        #expect(codable?.message == plain?.message.replacing("Plain", with: "AsCodable"))
    }
}

@Suite("Types that changed", .temporaryStores)
struct ChangedTypeTests {
    private struct Old: StoredAsCodable, Equatable {
        var name: String
        var nickname: String
    }

    private struct New: StoredAsCodable, Equatable {
        var name: String
        var age: Int?
        var tags: [String]?
    }

    private struct Needy: StoredAsCodable {
        var name: String
        var mail: String
    }

    @Test func readWhatTheirOlderAndNewerVersionsWrote() throws {
        try KeychainStorable<Old>("k").write(Old(name: "a", nickname: "b"))
        #expect(try KeychainStorable<New>("k").read() == New(name: "a"))
        try KeychainStorable<[New]>("l").write([New(name: "a", age: 3, tags: [])])
        struct Oldest: StoredAsCodable, Equatable { var name: String }
        #expect(try KeychainStorable<[Oldest]>("l").read() == [Oldest(name: "a")])
        #expect(try KeychainStorable<Empty>("k").read() == Empty())
        try KeychainStorable<Empty>("e").write(Empty())
        struct Gained: StoredAsCodable, Equatable { var name: String? }
        #expect(try KeychainStorable<Gained>("e").read() == Gained())
    }

    @Test func thatNeedAFieldMoreLeaveTheOldValueWhereItIs() throws {
        try KeychainStorable<Old>("k").write(Old(name: "a", nickname: "b"))
        let error = #expect(throws: VaultError.self) { try KeychainStorable<Needy>("k").read() }
        #expect(error?.code == .unreadable)
        #expect(error?.message.contains("the field mail is missing") == true)
        #expect(try KeychainStorable<Old>("k").read() == Old(name: "a", nickname: "b"))
    }
}
