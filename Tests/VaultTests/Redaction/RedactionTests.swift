import Foundation
import LinuxSystem
import TestSupport
import Testing
import VaultTesting

@testable import Vault

private let canary = "canary-7f3a91"

/// What a program may print, log or inspect by mistake, for each type that handles a secret.
@Suite("A secret is in nothing that prints", .temporaryStores)
struct RedactionTests {
    private struct Subject: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable () throws -> Any
        /// What is printed instead of the secret; nil if only the secret's absence matters.
        let told: String?

        init(_ name: String, told: String? = nil, _ make: @escaping @Sendable () throws -> Any) {
            testDescription = name
            self.told = told
            self.make = make
        }
    }

    private struct Model {
        @KeychainStored("k", default: canary) var keychain: String
        @Stored("k", default: canary) var preferences: String
        @RAMStored("k", default: canary) var memory: String
        var token = KeychainStorable<String>("k").defaulting(to: canary)
    }

    private static let nested = StoredValue.dictionary([
        "a": .array([.string(canary), .data(Data(canary.utf8))]), canary: .untyped(Data(canary.utf8)),
    ])

    private static let keys: [Subject] = [
        Subject("Storable", told: #"Storable("k")"#) {
            Storable("k", in: .keychain, movedFrom: .preferences).defaulting(to: canary)
        },
        Subject("KeychainStorable", told: #"KeychainStorable("k")"#) { KeychainStorable("k").defaulting(to: canary) },
        Subject("Storable", told: #"Storable("k")"#) { Storable("k").defaulting(to: [canary]) },
        Subject("RAMStorable", told: #"RAMStorable("k")"#) { RAMStorable("k").defaulting(to: ["a": canary]) },
        Subject("a key in a store", told: #"RAMStorable("k")"#) {
            RAMStorable("k", in: .store(MemoryStore.standard)).defaulting(to: canary)
        },
        Subject("a key with a quote", told: #"KeychainStorable("a\"\n")"#) { KeychainStorable<String>("a\"\n") },
        Subject("KeychainStored", told: #"KeychainStored("k")"#) { KeychainStored("k", default: canary) },
        Subject("Stored", told: #"Stored("k")"#) { Stored("k", default: canary) },
        Subject("RAMStored", told: #"RAMStored("k")"#) { RAMStored("k", default: canary) },
        Subject("a model of wrappers") { Model() },
        Subject("an optional key") { Optional(KeychainStorable("k").defaulting(to: canary)) as Any },
        Subject("keys in a dictionary") { ["a": [KeychainStorable("k").defaulting(to: canary)]] },
    ]

    private static let stores: [Subject] = [
        Subject("Keychain") { try Keychain.standard },
        Subject("Preferences") { Preferences.standard },
        Subject("MemoryStore", told: "MemoryStore") { MemoryStore.standard },
        Subject("a scope of the keychain") { try Keychain.standard.scoped(to: "user") },
        Subject("a scope of the preferences") { Preferences.standard.scoped(to: "user") },
        Subject("a scope of a scope of the memory") { MemoryStore.standard.scoped(to: "user").scoped(to: "b") },
        Subject("StandardStores") { try #require(StandardStores.replaced) },
        Subject("TemporaryStores", told: "TemporaryStores") { try TemporaryStores() },
        Subject("FailureLog") {
            let log = FailureLog { _, _ in }
            log.report(VaultError(.invalid, "An error."), key: "k")
            return log
        },
        Subject("StoreReference") { StoreReference.store(MemoryStore.standard) },
        Subject("coalescing preferences") {
            let folder = try TemporaryFolder()
            let preferences = Preferences(path: folder.file("p.plist"), coalescing: .seconds(60))
            _ = try preferences.commit(StoreBatch(["k": .string(canary)]))
            return preferences
        },
    ]

    private static let values: [Subject] = [
        Subject("StoredValue.string", told: "StoredValue(a string)") { StoredValue.string(canary) },
        Subject("StoredValue.data", told: "StoredValue(data)") { StoredValue.data(Data(canary.utf8)) },
        Subject("StoredValue.untyped") { StoredValue.untyped(Data(canary.utf8)) },
        Subject("a nested StoredValue", told: "StoredValue(a dictionary)") { nested },
        Subject("an array of StoredValues") { [nested, .string(canary)] },
        Subject("StoreBatch", told: #"StoreBatch(["k", "removed"])"#) {
            StoreBatch(["k": .string(canary), "removed": nil], expecting: ["k": nested])
        },
    ]

    init() throws {
        for store in [try Keychain.standard, Preferences.standard, MemoryStore.standard] as [any ValueStore] {
            for target in [store, store.scoped(to: "user")] as [any ValueStore] {
                _ = try target.commit(StoreBatch(["k": .string(canary), "d": .data(Data(canary.utf8))]))
                _ = try target.value(of: "k")
            }
        }
    }

    @Test(arguments: keys + stores + values) private func isNotIn(_ subject: Subject) throws {
        let value = try subject.make()
        expectNoTrace(in: texts(of: value))
        if let told = subject.told {
            #expect(String(describing: value) == told)
            #expect(String(reflecting: value) == told)
            #expect("\(value)" == told)
        }
    }

    @Test func whatWouldShowASecretIsSeen() {
        struct Careless { let token: String }
        final class Hiding: CustomStringConvertible {
            let token = [1: canary]
            var description: String { "hidden" }
        }
        #expect(texts(of: Careless(token: canary)).contains { $0.contains(canary) })
        #expect(texts(of: Hiding()).contains { $0.contains(canary) })
        #expect(texts(of: Array(canary.utf8)).contains { trace in traces.contains { trace.contains($0) } })
    }

    // MARK: Errors

    private struct Refusing: StoredObject {
        var secret = canary
        func toPrimitive() -> String? { nil }
        static func from(primitive: String) -> Refusing? { nil }
    }

    private struct BadlyCodable: StoredAsCodable {
        let secret: String
        init() { secret = canary }
        init(from decoder: any Decoder) throws {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: canary))
        }
        func encode(to encoder: any Encoder) throws {
            throw EncodingError.invalidValue(secret, .init(codingPath: [], debugDescription: canary))
        }
    }

    private struct ReadsBadly: StoredAsCodable {
        var secret = canary
        init() {}
        init(from decoder: any Decoder) throws {
            throw DecodingError.typeMismatch(
                String.self,
                .init(codingPath: [], debugDescription: try decoder.singleValueContainer().decode(String.self)))
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(secret)
        }
    }

    @Test func isInNoErrorOfATypedAccess() throws {
        for home in [StoreReference.keychain, .preferences, .memory] {
            var errors: [VaultError] = []
            func attempt(_ body: () throws(VaultError) -> Void) {
                do { try body() } catch { errors.append(error) }
            }
            attempt { () throws(VaultError) in _ = try Storable<Int>("k", in: home).read() }
            attempt { () throws(VaultError) in _ = try Storable<[String]>("k", in: home).read() }
            attempt { () throws(VaultError) in _ = try Storable<UUID>("k", in: home).read() }
            attempt { () throws(VaultError) in _ = try Storable<Refusing>("k", in: home).read() }
            attempt { () throws(VaultError) in try Storable<Refusing>("k", in: home).write(Refusing()) }
            attempt { () throws(VaultError) in try Storable<[String: Refusing]>("k", in: home).write(["a": Refusing()])
            }
            attempt { () throws(VaultError) in _ = try Storable<BadlyCodable>("k", in: home).read() }
            attempt { () throws(VaultError) in try Storable<BadlyCodable>("k", in: home).write(BadlyCodable()) }
            attempt { () throws(VaultError) in _ = try Storable<ReadsBadly>("k", in: home).read() }
            #expect(errors.count == 9)
            for error in errors { expectNoTrace(in: texts(of: error) + [error.localizedDescription]) }
        }
    }

    @Test func isInNoErrorOfAStoreThatCannotHoldTheValue() throws {
        var errors: [any Error] = []
        func attempt(_ body: () throws -> Void) {
            do { try body() } catch { errors.append(error) }
        }
        let deep = (0..<1_000).reduce(StoredValue.string(canary)) { inner, _ in .dictionary([canary: inner]) }
        let large = StoredValue.string(String(repeating: canary, count: (16 << 20) / canary.utf8.count + 1))
        attempt { try Storable<String>("k").write(canary + "\0") }
        attempt { try Storable<[String: String]>("k").write(["a": canary + "\u{1}"]) }
        attempt { try Storable<StoredValue>("k").write(deep) }
        attempt { try KeychainStorable<StoredValue>("k").write(deep) }
        attempt { try KeychainStorable<StoredValue>("k").write(large) }
        attempt {
            try Keychain.standard.atomically { try $0.write(canary, to: Storable<String>("k")) }
        }
        #expect(errors.count == 6)
        for error in errors { expectNoTrace(in: texts(of: error)) }
    }

    @Test func isNotInWhatTheFailureHandlerGets() throws {
        let lines = Mutex<[String]>([])
        let memory = MemoryStore.standard
        memory.failures.setHandler { error, key in lines.withLock { $0 += texts(of: error) + [key] } }
        var number: RAMStorable<Int> = "k"
        #expect(number.value == nil)
        var refusing: RAMStorable<Refusing> = "k"
        refusing.value = Refusing()
        number.value = nil
        #expect(lines.withLock { $0.count } > 2)
        expectNoTrace(in: lines.withLock { $0 })
        expectNoTrace(in: texts(of: try #require(memory.lastError)) + texts(of: memory.failures))
    }

    @Test func theLineOfAFailureNamesTheKeyAndHoldsNoSecret() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try withTemporaryStores { stores in
                _ = stores.memory.commit(StoreBatch(["k": .string(canary)]))
                var number: RAMStorable<Int> = "k"
                _ = number.value
                number = "a\nvault: forged"
                number.value = 1
            }
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("vault: ") }
        #expect(
            lines.first == #"vault: k: The value of "k" is a string, so it cannot be read as an integer (Int)."#)
        #expect(lines.count == 2 && lines.last?.hasPrefix(#"vault: a\u{a}vault: forged: Invalid key"#) == true)
        expectNoTrace(in: [text])
    }
}

/// Returns the texts of a value, and of everything that a mirror finds in it.
private func texts(of value: Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    var texts = [String(describing: value), String(reflecting: value), "\(value)", dumped]
    func walk(_ value: Any, depth: Int) {
        guard depth < 12 else { return }
        var mirror: Mirror? = Mirror(reflecting: value)
        while let present = mirror {
            for child in present.children {
                texts += [child.label ?? "", String(describing: child.value), String(reflecting: child.value)]
                walk(child.value, depth: depth + 1)
            }
            mirror = present.superclassMirror
        }
    }
    walk(value, depth: 0)
    return texts
}

private let traces = [
    canary, canary.utf8.map { String($0, radix: 16) }.joined(), canary.utf8.map { String($0) }.joined(separator: ", "),
    Data(canary.utf8).base64EncodedString(),
]

private func expectNoTrace(in texts: [String], sourceLocation: SourceLocation = #_sourceLocation) {
    for trace in traces {
        let found = texts.first { $0.contains(trace) }
        #expect(found == nil, sourceLocation: sourceLocation)
    }
}
