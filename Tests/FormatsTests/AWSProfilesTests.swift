import Testing

@testable import Formats

@Suite struct AWSProfilesTests {
    private static let files = [
        "", "\n", "[default]\nregion = x\n", "[default]", "# mine\n\n[profile \"work\"]\n region = x\n\n[profile z]\n",
        "[profile work]\nregion=x", "[ profile\twork ]\ns3 =\n  key = inner\n",
    ]

    @Test(arguments: files) func whatIsNotAskedForStays(file: String) {
        #expect(AWSProfiles(Array(file.utf8)).bytes == Array(file.utf8))
        var profiles = AWSProfiles(Array(file.utf8))
        profiles.remove("key", "value", from: "work")
        #expect(profiles.bytes == Array(file.utf8))
    }

    @Test(arguments: files, ["work", "default"]) func aLineIsAddedFoundAndRemoved(file: String, profile: String) {
        var profiles = AWSProfiles(Array(file.utf8))
        #expect(profiles.value(of: "key", in: profile) == nil)
        profiles.add("key", "a = b", to: profile)
        #expect(AWSProfiles(profiles.bytes).value(of: "key", in: profile) == "a = b")
        profiles.remove("key", "another", from: profile)
        #expect(profiles.value(of: "key", in: profile) == "a = b")
        profiles.remove("key", "a = b", from: profile)
        let end = file.isEmpty || file.hasSuffix("\n") || profiles.bytes == Array(file.utf8) ? "" : "\n"
        #expect(profiles.bytes == Array((file + end).utf8))
    }

    @Test func anotherProfilesLineIsNotThisOnes() {
        let profiles = AWSProfiles(Array("key = 0\n[default]\nkey=1\n[profile a]\n  key = 2\n[work]\nkey = 3\n".utf8))
        #expect(profiles.value(of: "key", in: "default") == "1")
        #expect(profiles.value(of: "key", in: "a") == nil && profiles.value(of: "key", in: "work") == nil)
    }
}
