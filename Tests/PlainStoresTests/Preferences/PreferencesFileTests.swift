import Foundation
import LinuxSystem
import PropertyList
import TestSupport
import Testing

@testable import PlainStores

@Suite("The preferences' file")
struct PreferencesFileTests {
    private let fixture: PreferencesFixture

    init() throws {
        fixture = try PreferencesFixture()
    }

    @Test func isAPropertyListThatOtherToolsRead() throws {
        let preferences = fixture.open()
        try preferences.set("flag", .boolean(true))
        try preferences.set("count", .integer(-7))
        try preferences.set("ratio", .real(1))
        try preferences.set("name", .string(" a\r\n<b> "))
        try preferences.set("blob", .data(Data([0, 255])))
        try preferences.set("day", .date(Date(timeIntervalSinceReferenceDate: 86_400)))
        try preferences.set("nested", .dictionary(["list": .array([.integer(1), .string("")])]))
        let read = try fixture.foreignRead()
        #expect(read["flag"] as? Bool == true)
        #expect(read["count"] as? Int == -7)
        #expect(read["ratio"] as? Double == 1)
        #expect(read["name"] as? String == " a\r\n<b> ")
        #expect(read["blob"] as? Data == Data([0, 255]))
        #expect(read["day"] as? Date == Date(timeIntervalSinceReferenceDate: 86_400))
        let list = (read["nested"] as? [String: Any])?["list"] as? [Any]
        #expect(list?.count == 2 && list?[0] as? Int == 1 && list?[1] as? String == "")
    }

    @Test func keepsWhatOtherProgramsWroteThere() throws {
        let foreign = """
            <key>real</key><real>1.0</real><key>integer</key><integer>1</integer>\
            <key>big</key><integer>18446744073709551615</integer><key>return</key><string>a&#13;b</string>\
            <key>date</key><date>2001-01-01T00:00:00Z</date><key>data</key><data>AAEC</data>\
            <key>nested</key><array><dict><key>k</key><false/></dict></array>
            """
        try fixture.write(xml: foreign)
        let before = try fixture.open().current().values
        #expect(before.count == 7)
        try fixture.open().set("ours", .string("x"))
        var after = try fixture.open().current().values
        #expect(after.removeValue(forKey: "ours") == .string("x"))
        #expect(after == before)
        #expect(after["real"] == .real(1) && after["integer"] == .integer(1))
        #expect(after["return"] == .string("a\rb"))
    }

    @Test func staysBinaryIfItWas() throws {
        let binary = try PropertyListSerialization.data(
            fromPropertyList: ["k": 1.5], format: .binary, options: 0)
        try overwrite(fixture.path, binary)
        let preferences = fixture.open()
        #expect(try preferences.value(of: "k") == .real(1.5))
        try preferences.set("n", .null)
        #expect(try contents(fixture.path).starts(with: "bplist00".utf8))
        #expect(try fixture.open().value(of: "n") == .null)
        #expect(try fixture.open().value(of: "k") == .real(1.5))
    }

    @Test func isPrivateAndItsFolderToo() throws {
        let path = fixture.folder.file("new/folder/suite.plist")
        try Preferences(path: path).set("k", .string("v"))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(fixture.folder.file("new/folder"), &status) == 0 && status.st_mode & 0o777 == 0o700)
        try setMode(path, 0o644)
        try Preferences(path: path).set("k", .string("w"))
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func staysWhereASymbolicLinkLeads() throws {
        let target = fixture.folder.file("dotfiles.plist")
        try FileManager.default.createSymbolicLink(atPath: fixture.path, withDestinationPath: target)
        try fixture.open().set("k", .string("v"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: fixture.path) == target)
        #expect(try Preferences(path: target).value(of: "k") == .string("v"))
    }

    @Test func isReadAnewWhenAnotherProgramHasChangedIt() throws {
        let preferences = fixture.open()
        #expect(try preferences.value(of: "k") == nil)
        try fixture.write(xml: "<key>k</key><integer>1</integer>")
        #expect(try preferences.value(of: "k") == .integer(1))
        try replace(fixture.path, with: Data("<plist><dict><key>k</key><integer>2</integer></dict></plist>".utf8))
        #expect(try preferences.value(of: "k") == .integer(2))
        try FileManager.default.removeItem(atPath: fixture.path)
        #expect(try preferences.value(of: "k") == nil)
    }

    /// Its times cannot tell it from our last write, and its size and inode number are the same.
    @Test(arguments: [false, true])
    func isReadAnewWhenAnotherProgramHasOverwrittenItRightAfterAWrite(_ readsFirst: Bool) throws {
        let preferences = fixture.open()
        try preferences.set("theirs", .integer(1))
        let before = try PosixFileSystem().status(at: fixture.path)
        let written = try String(decoding: contents(fixture.path), as: UTF8.self)
        try overwrite(fixture.path, written.replacing("<integer>1<", with: "<integer>2<").utf8)
        let after = try PosixFileSystem().status(at: fixture.path)
        #expect(after.identity == before.identity && after.size == before.size)
        if readsFirst { #expect(try preferences.value(of: "theirs") == .integer(2)) }
        try preferences.set("ours", .boolean(true))
        #expect(try fixture.open().value(of: "theirs") == .integer(2))
        #expect(try fixture.open().value(of: "ours") == .boolean(true))
    }

    @Test func isNotParsedAgainIfItsBytesAreTheSame() throws {
        try fixture.write(xml: "<key>k</key><integer>1</integer>")
        let file = PreferencesFile(file: WholeFile(fixture.path, in: PosixFileSystem()))
        // Other values than the bytes hold: so they show where the answer comes from.
        func known(_ bytes: [UInt8]?) -> PreferencesSnapshot {
            PreferencesSnapshot(["k": .integer(2)], .xml, nil, nil, readAt: 0, bytes: bytes)
        }
        #expect(try file.read(known(contents(fixture.path))).values == ["k": .integer(2)])
        #expect(try file.read(known(nil)).values == ["k": .integer(1)])
    }

    @Test func thatIsEmptyIsDamagedAlsoIfThereWasNoneBefore() throws {
        let preferences = fixture.open()
        #expect(try preferences.value(of: "k") == nil)
        try overwrite(fixture.path, [])
        #expect(try VaultError.code { _ = try preferences.value(of: "k") } == .damaged)
        #expect(try VaultError.code { try preferences.set("k", .integer(1)) } == .damaged)
        #expect(try contents(fixture.path).isEmpty)
    }

    @Test func isNotWrittenForAChangeThatIsNone() throws {
        let files = FaultyFileSystem()
        let preferences = fixture.open(in: files)
        try preferences.set("k", .integer(1))
        files.forgetCalls()
        try preferences.set("k", .integer(1))
        try preferences.set("absent", nil)
        #expect(files.calls.allSatisfy { $0.kind != .write && $0.kind != .rename })
        // A file that was flushed before is not flushed again: that would cost as much as half a write.
        #expect(files.calls.allSatisfy { $0.kind != .synchronize })
        try preferences.makeDurable()
        #expect(files.calls.allSatisfy { $0.kind != .synchronize })
    }

    @Test func ofAnotherProgramIsFlushedOnceForAChangeThatIsNone() throws {
        try fixture.write(xml: "<key>k</key><integer>1</integer>")
        let files = FaultyFileSystem()
        let preferences = fixture.open(in: files)
        for _ in 0..<3 { try preferences.set("k", .integer(1)) }
        let flushed = files.calls.filter { $0.kind == .synchronize }.map(\.path)
        #expect(flushed == [fixture.path, fixture.folder.path])
    }

    @Test(arguments: [
        "", "garbage", "<plist><dict><key>k</key></dict></plist>", "<plist><array/></plist>", "bplist00",
        "<plist><dict><key>k</key><integer>x</integer></dict></plist>",
        #"<!DOCTYPE plist [<!ENTITY a "b">]><plist><dict><key>k</key><string>&a;</string></dict></plist>"#,
        "<plist>" + String(repeating: "<array>", count: 10_000) + String(repeating: "</array>", count: 10_000)
            + "</plist>",
        "<plist><dict><key>k</key>" + String(repeating: "<array>", count: 10_000)
            + String(repeating: "</array>", count: 10_000) + "</dict></plist>",
    ])
    func thatIsDamagedIsAnErrorAndIsNeverOverwritten(_ text: String) throws {
        try overwrite(fixture.path, text.utf8)
        let preferences = fixture.open()
        #expect(try VaultError.code { _ = try preferences.value(of: "k") } == .damaged)
        #expect(try VaultError.code { _ = try preferences.keys(prefix: "") } == .damaged)
        #expect(try VaultError.code { try preferences.set("k", .string("new")) } == .damaged)
        #expect(try VaultError.code { try preferences.set("k", nil) } == .damaged)
        #expect(try contents(fixture.path) == Array(text.utf8))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func staysItsOwnersWhoeverWritesIt() throws {
        let preferences = fixture.open()
        try preferences.set("k", .integer(1))
        #expect(chown(fixture.path, 65_534, 65_533) == 0)
        try preferences.set("k", .integer(2))
        let status = try PosixFileSystem().status(at: fixture.path)
        #expect(status.owner == 65_534 && status.group == 65_533 && status.mode == 0o600)
    }

    /// A file's times advance in steps: two changes in quick succession that keep its size look like one.
    @Test func isReadAnewUntilItsTimesWouldTellOfAChange() throws {
        try overwrite(fixture.path, "<plist><dict/></plist>".utf8)
        let status = try PosixFileSystem().status(at: fixture.path, withTimes: true)
        for (later, isCurrent) in [(1, false), (1_000_000, false), (1_000_000_000, true)] as [(Int64, Bool)] {
            let file = try PosixFileSystem().open(fixture.path, .read)
            let snapshot = PreferencesSnapshot([:], .xml, status, file, readAt: status.changed + later)
            #expect(snapshot.isCurrent(status) == isCurrent)
        }
    }

    @Test func takesNoDescriptorMoreThanTheOneItIsKnownBy() throws {
        let files = FaultyFileSystem()
        let preferences = fixture.open(in: files)
        try preferences.set("k", .integer(1))
        files.forgetCalls()
        try preferences.set("k", .integer(2))
        #expect(files.calls.count { $0.kind == .open && $0.path == fixture.path.parentFolder } == 1)
    }

    @Test func thatIsLargerThanItsLimitIsAnErrorThatSaysSo() throws {
        try overwrite(fixture.path, [])
        #expect(truncate(fixture.path, off_t(PreferencesFile.sizeLimit) + 1) == 0)
        let preferences = fixture.open()
        let error = #expect(throws: VaultError.self) { try preferences.set("k", .string("new")) }
        #expect(error?.code == .damaged && error?.message.contains("it is larger than 64 MiB") == true)
    }

    @Test func thatIsAFolderOrUnreadableIsAnError() throws {
        try FileManager.default.createDirectory(atPath: fixture.path, withIntermediateDirectories: false)
        let code = try VaultError.code { _ = try fixture.open().value(of: "k") }
        #expect(code == .damaged || code == .unavailable)
        #expect(try VaultError.code { try fixture.open().set("k", .string("v")) } != nil)
    }
}
