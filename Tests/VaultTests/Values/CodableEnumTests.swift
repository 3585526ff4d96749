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
        let memory = try MemoryStore.standard
        try RAMStorable<Plain>(key: "k").write(.off)
        #expect(memory.value(of: "k") == .string("off"))
        #expect(try RAMStorable<AlsoCodable>(key: "k").read() == .off)
        #expect(try RAMStorable<AsCodable>(key: "k").read() == .off)
        try RAMStorable<AlsoCodable>(key: "k").write(.on)
        #expect(memory.value(of: "k") == .string("on"))
        try RAMStorable<AsCodable>(key: "k").write(.off)
        #expect(memory.value(of: "k") == .string("off"))
        #expect(try RAMStorable<Plain>(key: "k").read() == .off)
        try RAMStorable<Numbered>(key: "n").write(.two)
        #expect(memory.value(of: "n") == .integer(2))
        #expect(try RAMStorable<NumberedAsCodable>(key: "n").read() == .two)
        try RAMStorable<[NumberedAsCodable]>(key: "n").write([.one])
        #expect(memory.value(of: "n") == .array([.integer(1)]))
    }

    @Test func withAnUnknownRawValueAreUnreadable() throws {
        try RAMStorable<String>(key: "k").write("canary")
        let plain = #expect(throws: VaultError.self) { try RAMStorable<Plain>(key: "k").read() }
        let codable = #expect(throws: VaultError.self) { try RAMStorable<AsCodable>(key: "k").read() }
        #expect(plain?.code == .unreadable && codable?.code == .unreadable)
        #expect(codable?.message == plain?.message.replacing("Plain", with: "AsCodable"))
        #expect(codable?.message.contains("canary") == false)
    }

    @Test func withARawValueOfAnotherTypeNameBothTypes() throws {
        try RAMStorable<Int>(key: "k").write(1)
        let plain = #expect(throws: VaultError.self) { try RAMStorable<Plain>(key: "k").read() }
        let codable = #expect(throws: VaultError.self) { try RAMStorable<AsCodable>(key: "k").read() }
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
        try KeychainStorable<Old>(key: "k").write(Old(name: "a", nickname: "b"))
        #expect(try KeychainStorable<New>(key: "k").read() == New(name: "a"))
        try KeychainStorable<[New]>(key: "l").write([New(name: "a", age: 3, tags: [])])
        struct Oldest: StoredAsCodable, Equatable { var name: String }
        #expect(try KeychainStorable<[Oldest]>(key: "l").read() == [Oldest(name: "a")])
        #expect(try KeychainStorable<Empty>(key: "k").read() == Empty())
        try KeychainStorable<Empty>(key: "e").write(Empty())
        struct Gained: StoredAsCodable, Equatable { var name: String? }
        #expect(try KeychainStorable<Gained>(key: "e").read() == Gained())
    }

    @Test func thatNeedAFieldMoreLeaveTheOldValueWhereItIs() throws {
        try KeychainStorable<Old>(key: "k").write(Old(name: "a", nickname: "b"))
        let error = #expect(throws: VaultError.self) { try KeychainStorable<Needy>(key: "k").read() }
        #expect(error?.code == .unreadable)
        #expect(error?.message.contains("the field mail is missing") == true)
        #expect(try KeychainStorable<Old>(key: "k").read() == Old(name: "a", nickname: "b"))
    }
}
