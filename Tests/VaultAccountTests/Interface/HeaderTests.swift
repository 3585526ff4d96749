import Testing
import VaultAccount

@Suite("Header values")
struct HeaderTests {
    @Test(arguments: [
        ("plain", "plain"), ("a;b=c", "a%3Bb=c"), ("a\"b\\c", "a%22b%5Cc"), ("a b,c", "a%20b%2Cc"),
        ("a\r\nSet-Cookie: x=1", "a%0D%0ASet-Cookie:%20x=1"), ("ü\0", "%C3%BC%00"), ("50%", "50%25"),
        ("\u{7f}é\u{301}", "%7F%C3%A9%CC%81"),
    ])
    func aCookieHoldsWhateverTheValueIs(_ value: String, _ expected: String) {
        #expect(AccountHeaderValue.cookie(name: "token", value: value) == "token=" + expected)
    }

    @Test func aCookiesNameCannotBreakOutEither() {
        #expect(AccountHeaderValue.cookie(name: "a=b; c\n", value: "v") == "a%3Db%3B%20c%0A=v")
    }

    @Test(arguments: [
        ("abc.DEF-_~+/==", "abc.DEF-_~+/=="), ("a b", "a%20b"), ("a\r\nX: y", "a%0D%0AX%3A%20y"),
        ("a\", b", "a%22%2C%20b"),
        ("ü", "%C3%BC"),
    ])
    func aBearerTokenHoldsWhateverItIs(_ token: String, _ expected: String) {
        #expect(AccountHeaderValue.bearer(token) == "Bearer " + expected)
    }

    @Test func comeFromTheAccount() async throws {
        let fixture = try AccountFixture()
        let manager = fixture.manager()
        try await manager.login(userName: "a; b\n", password: "canary-password")
        #expect(try await manager.authorizationHeaderValue() == "Bearer canary-access-1")
        #expect(
            try await manager.cookieHeaderValue(tokenCookie: "sid", userNameCookie: "user")
                == "sid=canary-access-1; user=a%3B%20b%0A")
    }
}
