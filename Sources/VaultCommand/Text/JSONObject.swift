import FoundationEssentials
import LinuxSystem

/// What is written as JSON, except values and lists. The keys are as `vault help json` lists them.
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    /// What may be missing is an optional, and is written as null.
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

    /// Returns the object on one line, with sorted keys and underscores. What a terminal would obey and JSON allows is
    /// escaped. Outside of its strings JSON is plain ASCII, so the escapes are valid wherever they are needed.
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
