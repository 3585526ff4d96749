import Formats

extension FuzzTarget {
    /// The files of other programs: each input is read as all formats. What was written by this library is read back.
    static let formats = FuzzTarget(name: "formats") {
        try ["csv", "json", "xml", "env", "netrc", "git-credentials"]
            .flatMap { try fixtures(in: "EndToEnd/imports", ending: $0) }.map { try $0.bytes } + [
                Array("{\"vault_export\":1,\"entries\":[\n{\"name\":\"a\",\"value\":\"\\u00fc\"}]}".utf8),
                Array("pw\nuser: mia\notpauth://totp/x\n\nfree\n".utf8),
                Array("[/1]\nlabel = a\nsecret = b\ncreated = 1\nmodified = 1\nattribute.a = b\n".utf8),
            ]
    } feed: { input, _ in
        for table in LoginTable.allCases { _ = try? table.items(in: input) }
        _ = try? BitwardenJSON.items(in: input)
        _ = try? KeePassXML.items(in: input)
        _ = try? Netrc.items(in: input)
        _ = try? GitCredentialStore.items(in: input)
        _ = try? DockerConfiguration.items(in: input)
        _ = try? SecretToolOutput.items(in: input)
        _ = try? PassEntry.item("a/b", input)
        _ = try? EntryDocument.entries(in: input)
        checkWriting(input)
    }

    private static func checkWriting(_ input: [UInt8]) {
        var row = Array("x,".utf8)
        var variable = Array("A=".utf8)
        CSV.write(input) { row.append($0) }
        if let records = try? CSV.records(in: row) {
            check(records.map { $0.fields.map { Array($0.utf8) } } == [[[0x78], input]], "a field is read as another")
        }
        DotEnv.write(input) { variable.append($0) }
        let read = try? DotEnv.variables(in: variable).map(\.value)
        check(read == [input], "a variable is read as another")
    }
}
