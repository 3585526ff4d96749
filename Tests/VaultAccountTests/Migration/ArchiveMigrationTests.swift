import FoundationEssentials
import TestSupport
import Testing
import Vault
import VaultAccount
import VaultTesting

@Suite("The migration of a keyed archive", .temporaryStores)
struct ArchiveMigrationTests {
    /// A dictionary that an old app has archived with NSKeyedArchiver, as XML.
    private static let archive = """
        <plist><dict><key>$archiver</key><string>NSKeyedArchiver</string>
        <key>$top</key><dict><key>root</key><dict><key>CF$UID</key><integer>1</integer></dict></dict>
        <key>$objects</key><array><string>$null</string>
        <dict><key>$class</key><dict><key>CF$UID</key><integer>2</integer></dict>
        <key>NS.keys</key><array><dict><key>CF$UID</key><integer>3</integer></dict>
        <dict><key>CF$UID</key><integer>4</integer></dict></array>
        <key>NS.objects</key><array><dict><key>CF$UID</key><integer>5</integer></dict>
        <dict><key>CF$UID</key><integer>6</integer></dict></array></dict>
        <dict><key>$classname</key><string>NSDictionary</string></dict>
        <string>username</string><string>token</string><string>ada</string><string>canary-token</string>
        </array></dict></plist>
        """

    @Test func logsThePersonInAndRemovesTheFile() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("account.archive")
        try overwrite(path, ArchiveMigrationTests.archive.utf8)
        let manager = AccountManager(service: ScriptedService())
        #expect(try manager.migrate(from: .file(path)).outcome == .tokensKept)
        #expect(manager.state.account?.userName == "ada")
        #expect(try await manager.accessToken() == "canary-token")
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
