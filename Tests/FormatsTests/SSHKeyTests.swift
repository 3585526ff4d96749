import Sealing
import Testing

@testable import Formats

@Suite struct SSHKeyTests {
    /// Made by `ssh-keygen -t ed25519 -N '' -C mia@laptop` of OpenSSH 9.2, for this test alone.
    static let text = """
        -----BEGIN OPENSSH PRIVATE KEY-----
        b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
        QyNTUxOQAAACA0PLapHlMyRlc8yC/ERYoohbrTl+6V7mgK0r2xFNdFBwAAAJC66vNtuurz
        bQAAAAtzc2gtZWQyNTUxOQAAACA0PLapHlMyRlc8yC/ERYoohbrTl+6V7mgK0r2xFNdFBw
        AAAEAsOiSQCNIgaFVGjf1r+9iru8C5Ea5/bUQMntUoC1nhwjQ8tqkeUzJGVzzIL8RFiiiF
        utOX7pXuaArSvbEU10UHAAAACm1pYUBsYXB0b3ABAgM=
        -----END OPENSSH PRIVATE KEY-----

        """

    private enum Found: Equatable {
        case key(SSHKey.KeyType, comment: String, size: Int)
        case encrypted, otherFormat, unsupported
    }

    private func read(_ text: String) throws -> Found {
        switch try SSHKeyFile(SecretBytes(copyOf: Array(text.utf8))) {
        case .key(let key): .key(key.type, comment: key.comment, size: key.fields.count)
        case .encrypted: .encrypted
        case .otherFormat: .otherFormat
        case .unsupported: .unsupported
        }
    }

    /// Puts bytes into the form of the file.
    private func armored(_ bytes: [UInt8]) throws -> String {
        let digits = try bytes.withUnsafeBytes { bytes in try SecretBytes(base64Of: bytes).unsafeString() ?? "" }
        return "-----BEGIN OPENSSH PRIVATE KEY-----\n\(digits)\n-----END OPENSSH PRIVATE KEY-----\n"
    }

    private func string(_ bytes: some Collection<UInt8>) -> [UInt8] {
        [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    /// A file of the format with these parts.
    private func file(cipher: String = "none", keys: UInt8 = 1, private part: [UInt8], rest: [UInt8] = []) throws
        -> String
    {
        let head = Array("openssh-key-v1\0".utf8) + string(cipher.utf8) + string("none".utf8) + string([])
        return try armored(head + [0, 0, 0, keys] + string([]) + string(part) + rest)
    }

    private func privatePart(_ type: String, fields: Int, padding: [UInt8] = [1, 2, 3]) -> [UInt8] {
        let names = string(type.utf8) + (0..<fields).flatMap { _ in string([7]) }
        return [0, 0, 0, 9, 0, 0, 0, 9] + names + string("c".utf8) + padding
    }

    @Test func whatSSHKeygenHasMadeIsRead() throws {
        // The type, the public key and the private key, which ends with the public one, each with its length.
        #expect(try read(SSHKeyTests.text) == .key(.ed25519, comment: "mia@laptop", size: 15 + 36 + 68))
        #expect(try read("\n" + SSHKeyTests.text.replacing("\n", with: "\r\n")) == read(SSHKeyTests.text))
    }

    @Test(arguments: [("ssh-rsa", 6), ("ecdsa-sha2-nistp256", 3), ("ecdsa-sha2-nistp521", 3)])
    func eachTypeHasItsFields(type: String, fields: Int) throws {
        let whole = try file(private: privatePart(type, fields: fields))
        let found = Found.key(try #require(.init(rawValue: type)), comment: "c", size: 4 + type.utf8.count + 5 * fields)
        #expect(try read(whole) == found)
        // One field fewer: the comment is taken for a field, and the padding for a length.
        #expect(throws: FormatError.self) { try read(file(private: privatePart(type, fields: fields - 1))) }
    }

    @Test func whatAnAgentDoesNotTakeIsTold() throws {
        #expect(try read(file(cipher: "aes256-ctr", private: [])) == .encrypted)
        for type in ["sk-ssh-ed25519@openssh.com", "ssh-dss", "", "ssh-ed25519\0"] {
            #expect(try read(file(private: privatePart(type, fields: 5))) == .unsupported)
        }
        for label in ["RSA PRIVATE KEY", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "CERTIFICATE"] {
            #expect(try read("-----BEGIN \(label)-----\nMII=\n-----END \(label)-----\n") == .otherFormat)
        }
    }

    @Test func whatHasNotTheFormIsRefused() throws {
        let sound = privatePart("ssh-ed25519", fields: 2)
        let broken = [
            "", "tok", "-----BEGIN OPENSSH PRIVATE KEY-----", try armored([]),
            try armored(Array("openssh-key-v2\0".utf8)),
            try file(keys: 2, private: sound), try file(private: sound, rest: [0]),
            try file(private: privatePart("ssh-ed25519", fields: 2, padding: [1, 2, 4])),
            try file(private: [1] + sound.dropFirst()),
            try file(private: sound).replacing("-----END", with: "A-----END"),
        ]
        for text in broken { #expect(throws: FormatError.self) { try read(text) } }
    }

    @Test func aFileThatIsCutShortIsRefused() throws {
        let text = Array(SSHKeyTests.text.utf8)
        // In its first line it may be of another format; the final newline may be missing.
        for length in 36..<text.count - 1 {
            #expect(throws: FormatError.self) { try read(String(decoding: text[..<length], as: UTF8.self)) }
        }
    }

    @Test func noChangedFileIsATrap() throws {
        let text = Array(SSHKeyTests.text.utf8)
        for index in text.indices {
            var changed = text
            changed[index] ^= 1 << (index % 8)
            _ = try? SSHKeyFile(SecretBytes(copyOf: changed))
        }
    }
}

@Suite struct SSHAgentMessageTests {
    private func message(lifetime: UInt32? = nil, confirming: Bool = false) throws -> [UInt8] {
        switch try SSHKeyFile(SecretBytes(copyOf: Array(SSHKeyTests.text.utf8))) {
        case .key(let key):
            try SSHAgentMessage.adding(key, comment: "laptop", lifetime: lifetime, confirming: confirming).unsafeArray()
        default: []
        }
    }

    @Test func aKeyIsItsFieldsAndAComment() throws {
        let message = try message()
        #expect(message.prefix(9) == [0, 0, 0, 130, 17, 0, 0, 0, 11])
        #expect(message.count == 134 && message.suffix(10) == [0, 0, 0, 6] + Array("laptop".utf8))
    }

    @Test func conditionsComeLast() throws {
        let plain = try message()
        let constrained = try message(lifetime: 0x0102_0304, confirming: true)
        #expect(constrained.prefix(5) == [0, 0, 0, 136, 25])
        #expect(constrained.dropFirst(5).dropLast(6) == plain.dropFirst(5))
        #expect(constrained.suffix(6) == [1, 1, 2, 3, 4, 2])
        #expect(try message(confirming: true).suffix(2) == [UInt8(ascii: "p"), 2])
    }

    @Test(arguments: [[], [0, 0, 0, 1], [0, 0, 0, 1, 5], [0, 0, 0, 2, 6], [0, 0, 0, 1, 6, 0]] as [[UInt8]])
    func onlySuccessIsSuccess(answer: [UInt8]) {
        #expect(SSHAgentMessage.isSuccess([0, 0, 0, 1, 6]))
        #expect(!SSHAgentMessage.isSuccess(answer))
    }
}
