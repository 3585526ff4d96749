import Foundation
import Vault

// Types that encode themselves in all the ways that Codable has.

struct Everything: StoredAsCodable, Equatable {
    struct Point: Codable, Equatable, Hashable {
        var x: Double
        var y: Float?
    }

    enum Shape: Codable, Equatable {
        case dot
        case circle(radius: Double)
        case box(Int, Int)
    }

    var flag = true
    var integers: [Int64] = [.min, -1, 0, .max]
    var naturals: [UInt64] = [0, .max]
    var small: [Int8] = [.min, .max]
    var wide: Int128 = -5
    var wideNatural: UInt128 = 7
    var half: Float16 = 0.5
    var single: Float = 0.1
    var numbers: [Double] = [-0.0, 0.1, .infinity, .leastNonzeroMagnitude, 1]
    var text = "e\u{301} 😀\0"
    var data = Data([0, 0xff])
    var date = Date(timeIntervalSinceReferenceDate: 0.1)
    var url = URL(string: "https://example.com/a?b#c")
    var uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
    var missing: String?
    var holes: [Int?] = [1, nil, 3]
    var points = [Point(x: 1.5, y: nil), Point(x: 2, y: 0.1)]
    var shapes: [Shape] = [.dot, .circle(radius: 1), .box(2, 3)]
    var byName = ["a": [1], "": []]
    var byNumber = [1: "one", -2: "minus two"]
    var byDate = [Date(timeIntervalSinceReferenceDate: 5): "five"]
    var set: Set<String> = ["x", "y"]
    var range = 1..<5
    var decimals: [[[String: [Int]]]] = [[["k": [1]]], []]
}

struct Empty: StoredAsCodable, Equatable {}

/// An array that is filled by hand: nested containers, an element of another kind, an encoder of its own.
struct ByHand: StoredAsCodable, Equatable {
    enum CodingKeys: CodingKey { case list, inner, other }
    enum InnerKeys: CodingKey { case a, b }
    var numbers = [1, 2]
    var a: String? = "a"
    var other = Everything.Point(x: 1, y: 2)

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var list = try container.nestedUnkeyedContainer(forKey: .list)
        guard try list.decodeNil() else { throw DecodingError.dataCorruptedError(in: list, debugDescription: "") }
        guard try !list.decodeNil() else { throw DecodingError.dataCorruptedError(in: list, debugDescription: "") }
        var nested = try list.nestedUnkeyedContainer()
        numbers = []
        while !nested.isAtEnd { numbers.append(try nested.decode(Int.self)) }
        let inner = try list.nestedContainer(keyedBy: InnerKeys.self)
        a = try inner.decodeIfPresent(String.self, forKey: .a)
        guard try inner.decodeNil(forKey: .b), inner.contains(.b),
            try inner.decodeIfPresent(Int.self, forKey: .b) == nil
        else { throw DecodingError.dataCorruptedError(forKey: .b, in: inner, debugDescription: "") }
        guard try [Int](from: list.superDecoder()) == [9], list.isAtEnd, list.count == 4 else {
            throw DecodingError.dataCorruptedError(in: list, debugDescription: "")
        }
        other = try Everything.Point(from: container.superDecoder(forKey: .other))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        try list.encodeNil()
        var nested = list.nestedUnkeyedContainer()
        for number in numbers { try nested.encode(number) }
        var inner = list.nestedContainer(keyedBy: InnerKeys.self)
        try inner.encodeIfPresent(a, forKey: .a)
        try inner.encodeNil(forKey: .b)
        try [9].encode(to: list.superEncoder())
        try other.encode(to: container.superEncoder(forKey: .other))
    }
}

class Animal: Codable, Equatable {
    var name: String

    init(name: String) { self.name = name }

    func isSame(as other: Animal) -> Bool { name == other.name }
    static func == (left: Animal, right: Animal) -> Bool { left.isSame(as: right) }
}

/// The superclass under a key of its own.
final class Dog: Animal, StoredAsCodable {
    private enum CodingKeys: CodingKey { case tricks }
    var tricks: [String]

    init(name: String, tricks: [String]) {
        self.tricks = tricks
        super.init(name: name)
    }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        tricks = try container.decode([String].self, forKey: .tricks)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(tricks, forKey: .tricks)
        try super.encode(to: container.superEncoder())
    }

    override func isSame(as other: Animal) -> Bool {
        super.isSame(as: other) && tricks == (other as? Dog)?.tricks
    }
}

/// The superclass's fields among its own.
final class Cat: Animal, StoredAsCodable {
    private enum CodingKeys: CodingKey { case lives }
    var lives: Int

    init(name: String, lives: Int) {
        self.lives = lives
        super.init(name: name)
    }

    required init(from decoder: any Decoder) throws {
        lives = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .lives)
        try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(lives, forKey: .lives)
    }

    override func isSame(as other: Animal) -> Bool { super.isSame(as: other) && lives == (other as? Cat)?.lives }
}

/// As deep as one likes.
final class Chain: StoredAsCodable, Equatable {
    let next: Chain?

    init(length: Int) {
        next = length > 1 ? Chain(length: length - 1) : nil
    }

    var length: Int { 1 + (next?.length ?? 0) }
    static func == (left: Chain, right: Chain) -> Bool { left.length == right.length }
}

/// As deep, and nothing of it to be seen in what is stored.
final class Wrapping: StoredAsCodable {
    let inner: Wrapping?

    init(depth: Int) {
        inner = depth > 1 ? Wrapping(depth: depth - 1) : nil
    }

    init(from decoder: any Decoder) throws {
        inner = try decoder.singleValueContainer().decode(Wrapping.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let inner { try container.encode(inner) } else { try container.encode(1) }
    }
}
