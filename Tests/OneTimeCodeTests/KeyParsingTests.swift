import OneTimeCode
import Sealing
import TestSupport
import Testing

@Suite("Addresses of keys") struct KeyParsingTests {
    private static let secret = "JBSWY3DPEHPK3PXPJBSWY3DP"

    @Test func everyPartOfAnAddressIsRead() throws {
        let address =
            "otpauth://totp/Ex%20ample:mia%40example.org?secret=\(Self.secret)&issuer=ACME%20Co&algorithm=SHA512"
            + "&digits=8&period=60&image=https%3A%2F%2Fexample.org%2Fx.png"
        try withKey(address) { key in
            #expect(key.algorithm == .sha512 && key.form == .digits(8) && key.movingFactor == .time(period: 60))
            #expect(key.issuer == "ACME Co" && key.account == "mia@example.org")
            #expect(key.secret.unsafeArray() == Array("Hello!".utf8) + [0xDE, 0xAD, 0xBE, 0xEF] + Array("Hello".utf8))
        }
    }

    @Test(
        arguments: [
            ("totp/mia", nil, "mia"), ("totp/ACME:mia", "ACME", "mia"), ("totp/ACME%3A%20mia", "ACME", "mia"),
            ("totp/ACME:a:b", "ACME", "a:b"), ("totp/", nil, nil), ("totp", nil, nil), ("TOTP/a+b", nil, "a+b"),
            ("totp/:", nil, nil), ("totp/%E2%82%AC", nil, "€"),
        ] as [(String, String?, String?)])
    func theLabelNamesIssuerAndAccount(_ start: String, _ issuer: String?, _ account: String?) throws {
        try withKey("OTPAUTH://\(start)?secret=\(Self.secret)#fragment") { key in
            #expect(key.issuer == issuer)
            #expect(key.account == account)
        }
    }

    @Test(arguments: [
        "JBSWY3DPEHPK3PXPJBSWY3DP", "jbswy3dpehpk3pxpjbswy3dp", " JBSW Y3DP EHPK-3PXP JBSW Y3DP \n",
        "JBSWY3DPEHPK3PXPJBSWY3DP==",
        "otpauth://totp/x?secret=jbsw%20y3dp%20ehpk%203pxp%20jbsw%20y3dp",
        "\totpauth://totp/x?secret=JBSWY3DPEHPK3PXPJBSWY3DP%3D%3d\r\n",
    ])
    func aSecretMayBeWrittenForPeople(_ text: String) throws {
        try withKey(text) { key in
            #expect(key.secret.unsafeArray() == Array("Hello!".utf8) + [0xDE, 0xAD, 0xBE, 0xEF] + Array("Hello".utf8))
        }
    }

    @Test func secretsOfAllLengthsAreRead() throws {
        var random = SeededGenerator(13)
        for count in 1...200 {
            let bytes = random.bytes(count)
            try withKey("otpauth://totp/x?secret=\(base32(bytes))") { #expect($0.secret.unsafeArray() == bytes) }
        }
    }

    @Test(arguments: [
        ("totp/x", "its secret is missing"),
        ("totp/x?", "its secret is missing"),
        ("totp/x?secret=", "its secret is not base32"),
        ("totp/x?secret=ABC", "its secret is not base32"),
        ("totp/x?secret=GEZDGNBVGY1", "its secret is not base32"),
        ("totp/x?secret=GEZDGNBV%", "its secret is not base32"),
        ("totp/x?secret=GEZDGNBV%4", "its secret is not base32"),
        ("totp/x?secret=GE=DGNBV", "its secret is not base32"),
        ("totp/x?secret=GEZDGNBV&secret=GEZDGNBV", "its secret is given twice"),
        ("totp/x?secret=GEZDGNBV&digits=5", "its digits is not a number from 6 to 8"),
        ("totp/x?secret=GEZDGNBV&digits=9", "its digits is not a number from 6 to 8"),
        ("totp/x?secret=GEZDGNBV&digits=+7", "its digits is not a number from 6 to 8"),
        ("totp/x?secret=GEZDGNBV&period=0", "its period is not a number from 1 to 86400"),
        ("totp/x?secret=GEZDGNBV&period=99999999999999999999999", "its period is not a number from 1 to 86400"),
        ("totp/x?secret=GEZDGNBV&algorithm=MD5", "its algorithm is not SHA1, SHA256 or SHA512"),
        ("totp/x?secret=GEZDGNBV&encoder=other", "its encoder is not supported"),
        ("totp/x?secret=GEZDGNBV&issuer=%FF", "its issuer is not valid"),
        ("totp/%?secret=GEZDGNBV", "its label is not valid"),
        ("hotp/x?secret=GEZDGNBV", "its counter is missing"),
        ("hotp/x?secret=GEZDGNBV&counter=", "its counter is not a number from 0 to 9223372036854775807"),
        ("hotp/x?secret=GEZDGNBV&issuer=Steam&counter=1", "its type is not supported"),
        ("motp/x?secret=GEZDGNBV", "its type is not supported"),
        ("", "its secret is missing"),
    ])
    func anAddressThatBreaksARuleIsRefused(_ rest: String, _ detail: String) throws {
        #expect(try refusal(of: "otpauth://\(rest)") == .malformed(detail))
    }

    @Test func whatIsNoKeyIsRefused() throws {
        #expect(try refusal(of: "otpauth-migration://offline?data=CjEKCkhlbGxvId6tvu8%3D") == .export)
        // Shorter than any service's secret, so it may be a password.
        for text in ["", " ", "hunter22", "JBSWY3DPEHPK3PX", "correct horse battery", "https://example.org/"] {
            #expect(try refusal(of: text) == .unrecognized, "\(text)")
        }
        #expect(try refusal(of: "JBSWY3DPEHPK3PXP") == nil)
    }

    @Test(arguments: [
        ("otpauth://hotp/x?counter=9&secret=GEZDGNBV&issuer=a", "otpauth://hotp/x?counter=10&secret=GEZDGNBV&issuer=a"),
        (" otpauth://hotp/?secret=GEZDGNBV&counter=00\n", " otpauth://hotp/?secret=GEZDGNBV&counter=1\n"),
        (
            "otpauth://hotp/counter=3?secret=GEZDGNBV&counter=9223372036854775807",
            "otpauth://hotp/counter=3?secret=GEZDGNBV&counter=9223372036854775808"
        ),
    ])
    func raisingTheCounterChangesNothingElse(_ text: String, _ raised: String) throws {
        let bytes = try SecretBytes(copyOf: Array(text.utf8))
        let key = try OneTimeKey(parsing: bytes)
        let result = try key.raisingCounter(in: bytes)?.unsafeString()
        #expect(result == raised)
    }

    @Test func aKeyByTimeHasNoCounterToRaise() throws {
        let bytes = try SecretBytes(copyOf: Array("otpauth://totp/x?secret=GEZDGNBV&counter=1".utf8))
        let key = try OneTimeKey(parsing: bytes)
        let isRaised = try key.raisingCounter(in: bytes) != nil
        #expect(!isRaised)
    }
}
