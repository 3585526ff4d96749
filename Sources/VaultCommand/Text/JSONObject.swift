import FoundationEssentials
import LinuxSystem

/// A JSON object, for all JSON output except values and lists. `vault help json` describes the keys.
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    /// A member of an object. An optional value that is nil is written as null.
    struct Member: Encodable {
        let value: any Encodable

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    let members: [String: Member]

    init(dictionaryLiteral members: (String, any Encodable)...) {
        self.members = Dictionary(uniqueKeysWithValues: members.map { ($0, Member(value: $1)) })
    }

    private init(_ members: [String: Member]) { self.members = members }

    func adding(_ key: String, _ value: any Encodable) -> JSONObject {
        JSONObject(members.merging([key: Member(value: value)]) { $1 })
    }

    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }

    /// Returns the object as one line, with sorted keys in snake case. Escapes characters that JSON allows but a
    /// terminal would interpret. They occur only inside strings, where escapes are valid. The rest is plain ASCII.
    func line() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let text = String(decoding: try encoder.encode(self), as: UTF8.self)
        return text.unicodeScalars.map { scalar in
            scalar.isUnsafeOnTerminal ? String(decoding: Escaping.json(String(scalar)), as: UTF8.self) : String(scalar)
        }.joined() + "\n"
    }
}
