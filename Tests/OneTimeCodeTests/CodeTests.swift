import OneTimeCode
import Sealing
import Testing

/// RFC 4226, appendix D, and RFC 6238, appendix B.
@Suite("Codes") struct CodeTests {
    private static let seed = Array("1234567890".utf8)

    /// The secret of the vectors: digits, repeated up to a length.
    private func secret(_ length: Int) -> String { base32((0..<length).map { CodeTests.seed[$0 % 10] }) }

    @Test func countedCodesAreThoseOfTheStandard() throws {
        let codes = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ]
        try withKey("otpauth://hotp/x?secret=\(secret(20))&counter=0") { key in
            let computed = try codes.indices.map { try key.text(of: UInt64($0)) }
            #expect(computed == codes)
        }
    }

    @Test(arguments: [
        (59, "94287082", "46119246", "90693936"),
        (1_111_111_109, "07081804", "68084774", "25091201"),
        (1_111_111_111, "14050471", "67062674", "99943326"),
        (1_234_567_890, "89005924", "91819424", "93441116"),
        (2_000_000_000, "69279037", "90698825", "38618901"),
        (20_000_000_000, "65353130", "77737706", "47863826"),
    ])
    func codesByTimeAreThoseOfTheStandard(_ time: UInt64, _ sha1: String, _ sha256: String, _ sha512: String) throws {
        for (algorithm, length, code) in [("SHA1", 20, sha1), ("SHA256", 32, sha256), ("SHA512", 64, sha512)] {
            try withKey("otpauth://totp/x?secret=\(secret(length))&algorithm=\(algorithm)&digits=8") { key in
                #expect(key.movingFactor == .time(period: 30))
                let computed = try key.text(of: time / 30)
                #expect(computed == code)
            }
        }
    }

    /// RFC 2104 hashes such a key first. The codes are those of Python's `hmac`.
    @Test func aSecretMayBeLongerThanABlock() throws {
        for (algorithm, code) in [("SHA1", "407335"), ("SHA256", "141591"), ("SHA512", "034682")] {
            try withKey("otpauth://totp/x?secret=\(secret(201))&algorithm=\(algorithm)") { key in
                let computed = try key.text(of: 1)
                #expect(computed == code)
            }
        }
    }

    @Test func aSecretAloneGivesSixDigitsOfSHA1() throws {
        try withKey(secret(20)) { key in
            #expect(key.algorithm == .sha1 && key.form == .digits(6) && key.movingFactor == .time(period: 30))
            let code = try key.text(of: 0)
            #expect(code == "755224")
        }
    }

    @Test func steamHasLettersOfItsOwn() throws {
        let secret = secret(20)
        let texts = [
            "otpauth://totp/Steam:mia?secret=\(secret)&issuer=Steam",
            "otpauth://totp/Steam:mia?secret=\(secret)&period=30&digits=5&issuer=Steam&encoder=steam",
            "steam://\(secret)",
        ]
        for text in texts {
            try withKey(text) { key in
                #expect(key.form == .steam)
                // The lowest digit to the base of 26 first: 1284755224 and 82162583 of RFC 4226.
                let codes = try [0, 7].map { try key.text(of: $0) }
                #expect(codes == ["GG5F5", "C9PRW"])
            }
        }
    }
}
