import Formats
import FoundationEssentials
import Vault

enum GetCommand: Command {
    static let description = CommandDescription(
        name: .get, section: .values, changesNothing: true, summary: "write values to standard output",
        arguments: [.init(name: "NAME", count: .oneOrMore, completion: .secretName, help: "A name.")],
        options: [
            ValueForm.newlineOption,
            .init(name: .last, value: "N", help: "Write only the last N characters, at most 8."),
            .init(name: .fingerprint, help: "Write a fingerprint of the value, to compare it without showing it."),
        ],
        details: """
            A pipe or file gets the exact bytes. A terminal gets control characters, invisible characters and bytes \
            that are not UTF-8 as escapes such as \\x1b or \\u{200b}, and a final newline.

            A date, stored by a program or `vault set --type`, is written in UTC, to the millisecond. Arrays and \
            dictionaries are written as JSON, with dates and data (base64) as strings. All others are written as stored.

            Several values are written in order, each on lines of its own, unless --newline=no is given. If one of the \
            names does not exist, nothing is written.

            NAME.FIELD means the attribute FIELD of NAME, unless an entry has that name: `vault get web/shop.username`.

            Equal values in a vault and its copies have equal fingerprints, until `vault key rotate`. Without the \
            vault's keys, a fingerprint reveals nothing. --last requires a value with at least 8 more characters.
            """,
        examples: [
            .init("vault get u.token", "show the value"),
            .init("vault get ssh/key > key", "write the value to a file, byte for byte"),
            .init("vault get --last 4 u.token", "identify a token without showing it"),
        ],
        exitCodes: [
            .init(.notFound, "no such name; a similar one is suggested"),
            .init(.refused, "the value is too short for --last"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let look = try SafeLook(invocation)
        let form = ValueForm(newline: invocation.newline, isAlone: invocation.arguments.count == 1)
        let keychain = try invocation.openVault()
        // All values are read before any is written, so that an error leaves no partial output.
        var values: [(name: String, value: HeldSecret)] = []
        for name in invocation.arguments {
            guard let stored = try invocation.reading(name, from: keychain) else { throw keychain.absent(name) }
            let value = try look.seen(ValueText.shown(stored, of: name), of: name, in: keychain)
            values.append((name, HeldSecret(value)))
        }
        if invocation.wantsJSON {
            try writeJSON(values)
        } else {
            for (_, value) in values { try form.write(value.bytes) }
        }
        keychain.copies.completeLocalCopy()
        return .success
    }

    /// Writes a single value as one JSON object, and several values as an object with a list of them.
    private static func writeJSON(_ values: [(name: String, value: HeldSecret)]) throws {
        if values.count > 1 { try StandardOutput.write(#"{"values":["#) }
        for (index, (name, value)) in values.enumerated() {
            if index > 0 { try StandardOutput.write(",") }
            try ValueForm.json(value.bytes, name: name).withUnsafeBytes(StandardOutput.write)
        }
        try StandardOutput.write(values.count > 1 ? "]}\n" : "\n")
    }
}

/// The part of a value that `get` shows: the whole value, its fingerprint, or its last characters.
enum SafeLook {
    case value, fingerprint
    case last(Int)

    /// The minimum number of characters that `--last` leaves hidden. Fewer could be guessed.
    private static let hidden = 8

    init(_ invocation: Invocation) throws(UsageError) {
        let last = try invocation.number(of: .last)
        switch (invocation.has(.fingerprint), last) {
        case (true, .some): throw .oneLookOnly
        case (true, nil): self = .fingerprint
        case (false, let count?):
            guard count <= 8 else { throw .tooManyCharacters }
            self = .last(count)
        case (false, nil): self = .value
        }
    }

    func seen(_ value: consuming SecretBytes, of name: String, in keychain: Keychain) throws -> SecretBytes {
        switch self {
        case .value: return value
        case .fingerprint: return try SecretBytes(utf8: keychain.fingerprint(ofValue: value))
        case .last(let count): return try SafeLook.last(count, of: value, name)
        }
    }

    private static func last(_ count: Int, of value: borrowing SecretBytes, _ name: String) throws -> SecretBytes {
        try value.withUnsafeBytes { bytes in
            guard bytes.isUTF8 else {
                throw CommandError.refused("The value of \"\(name)\" is not text, so --last does not apply.")
            }
            // These are the offsets of the characters' first bytes. Only the other bytes begin with the bits 10.
            let starts = bytes.indices.filter { bytes[$0] & 0xC0 != 0x80 }
            guard starts.count >= count + hidden else {
                throw CommandError.refused(
                    "The value of \"\(name)\" is too short to show its last \(count) characters.")
            }
            let end = UnsafeRawBufferPointer(rebasing: bytes[starts[starts.count - count]...])
            return try SecretBytes(composing: { put in end.forEach(put) })
        }
    }
}
