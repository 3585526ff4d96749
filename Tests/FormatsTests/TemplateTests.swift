import Testing

@testable import Formats

@Suite struct TemplateTests {
    /// The text, with placeholders as `<NAME@LINE:COLUMN>`.
    private func parsed(_ text: String) throws -> String {
        let pieces = try Template(parsing: Array(text.utf8)).pieces
        return pieces.map { piece in
            switch piece {
            case .text(let text): String(decoding: text, as: UTF8.self)
            case .placeholder(let location): "<\(location.name)@\(location.line):\(location.column)>"
            }
        }.joined()
    }

    @Test(arguments: [
        ("", ""), ("no braces", "no braces"), ("{ } }} {\n", "{ } }} {\n"), ("{", "{"), ("{\n{", "{\n{"),
        ("{{ vault:a }}", "<a@1:1>"), ("{{vault:a}}", "<a@1:1>"), ("{{\tvault:a b/c.d  }}", "<a b/c.d@1:1>"),
        ("x={{ vault:a }};\ny={{ vault:b }}\n", "x=<a@1:3>;\ny=<b@2:3>\n"),
        ("{{vault:a}}{{vault:b}}", "<a@1:1><b@1:12>"),
        ("ü🔑{{vault:ü}}", "ü🔑<ü@1:3>"), ("{{vault:a}}}", "<a@1:1>}"), ("{{vault:a:b}}", "<a:b@1:1>"),
    ])
    func aPlaceholderNamesAnEntry(text: String, expected: String) throws {
        #expect(try parsed(text) == expected)
    }

    @Test(arguments: [
        (#"{{ "{{" }}"#, "{{"), (#"{{"{{"}} x }}"#, "{{ x }}"), (#"{{"{{"}}vault:a}}"#, "{{vault:a}}"),
        ("{{{vault:a}}}", "{<a@1:2>}"), ("{{{{ vault:a }}", "{{<a@1:3>"),
    ])
    func bracesCanStandForThemselves(text: String, expected: String) throws {
        #expect(try parsed(text) == expected)
    }

    @Test(arguments: [
        ("{{ vault:a", 1, 1), ("x\n {{ vault:a\n}}", 2, 2), ("{{ vault:a }", 1, 1), ("{{", 1, 1), ("a {{", 1, 3),
        ("{{}}", 1, 1), ("{{ a }}", 1, 1), ("{{ vault: }}", 1, 1), ("{{ vault:a }}\n{{ .Values.x }}", 2, 1),
        ("ü{{ Vault:a }}", 1, 2), (#"{{ "}}" }}"#, 1, 1),
    ])
    func aMalformedPlaceholderIsNamedByItsPosition(text: String, line: Int, column: Int) throws {
        let error = try #require(throws: FormatError.self) { try parsed(text) }
        #expect((error.line, error.column) == (line, column))
    }

    @Test func textMayHaveAnyBytesAndANameIsUTF8() throws {
        let bytes: [UInt8] = [0xFF, 0, 0x7B, 0x80]
        #expect(try Template(parsing: bytes).pieces == [.text(bytes)])
        #expect(throws: FormatError.self) { try Template(parsing: Array("{{vault:".utf8) + [0xFF] + Array("}}".utf8)) }
    }
}
