import Formats
import Sealing

extension FuzzTarget {
    /// What programs ask their credential helpers for, and their files: each input is read as all of them.
    static let helpers = FuzzTarget(name: "helpers") {
        [
            "capability[]=authtype\nprotocol=https\nhost=example.org:8443\npath=a/b\nusername=mia\npassword=x=y\n"
                + "password_expiry_utc=4000000000\noauth_refresh_token=z\nephemeral=1\n\n",
            "protocol=cert\nhost=\nauthtype=Bearer\ncredential=x\ncapability[]=\n",
            "{\"ServerURL\":\"https://index.docker.io/v1/\",\"Username\":\"<token>\",\"Secret\":\"\\u00fc\"}\n",
            "# mine\n[default]\nregion = x\n\n[profile work]\nkey = value\ns3 =\n  key = inner\n",
        ].map { Array($0.utf8) }
    } feed: { input, _ in
        let text = try SecretBytes(copyOf: input)
        if let credential = try? GitCredential(parsing: text) { try checkWriting(credential) }
        if let login = try? DockerCredential(parsing: text) {
            check(login.server == DockerCredential.trimmed(login.server), "white space is left around an address")
        }
        checkProfiles(input)
    }

    private static func checkWriting(_ credential: GitCredential) throws {
        var lines: [UInt8] = []
        do { try credential.write { lines.append($0) } } catch { check(false, "what was read cannot be written") }
        let again = try GitCredential(parsing: SecretBytes(copyOf: lines))
        check(again.username == credential.username && again.expiry == credential.expiry, "lines are read as others")
        let former = credential.password?.bytes.unsafeArray()
        let found = again.password?.bytes.unsafeArray()
        check(former == found, "a password is read as another")
    }

    private static func checkProfiles(_ input: [UInt8]) {
        var profiles = AWSProfiles(input)
        check(profiles.bytes == input, "a file is written as another")
        guard profiles.value(of: "key", in: "work") == nil else { return }
        profiles.add("key", "value", to: "work")
        check(profiles.value(of: "key", in: "work") == "value", "a line is not found")
        profiles.remove("key", "value", from: "work")
        check(profiles.value(of: "key", in: "work") == nil, "a line stays")
    }
}
