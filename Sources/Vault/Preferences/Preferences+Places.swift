private import CLinux
import LinuxSystem

extension Preferences {
    /// The process's own preferences: the suite with the name of the program. Within a task that has test stores it is
    /// their preferences.
    ///
    /// - Throws: ``VaultError`` with `unavailable` only in tests, outside of their stores.
    public static var standard: Preferences {
        get throws(VaultError) {
            try StandardStores.resolve(\.preferences) { shared }
        }
    }

    /// Where errors of the standard preferences are reported.
    public static let standardFailures = FailureLog()

    private static let shared = Preferences(suite: programName, failures: standardFailures)

    private static var programName: String {
        let name = vault_argument(0).map { String(cString: $0).lastPathComponent } ?? ""
        return name.isEmpty ? "default" : name
    }

    /// The longest name of a suite, in bytes of its file's name without `.plist`.
    private static let longestName = 200

    static func path(ofSuite suite: String) throws(VaultError) -> String {
        let name = fileName(of: suite)
        guard !suite.isEmpty, name.utf8.count <= longestName else {
            throw VaultError(
                .invalid, "That is no name for a suite of preferences: it is \(suite.isEmpty ? "empty" : "too long").")
        }
        guard let folder = try PlaceVariables().folder("XDG_CONFIG_HOME", ".config") else {
            throw VaultError(
                .unavailable,
                "There is no home folder to keep preferences in; set HOME or XDG_CONFIG_HOME, or name the file's path.")
        }
        return "\(folder)/vault/preferences/\(name).plist"
    }

    /// A suite's name with all but letters, digits, `_`, `-` and inner dots percent-encoded: no two names meet, none leaves the
    /// folder or hides in it.
    private static func fileName(of suite: String) -> String {
        var name = ""
        for byte in suite.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where !name.isEmpty: name.append(".")
            default: name += "%" + String(byte, radix: 16, uppercase: true).leftPadded
            }
        }
        return name
    }
}

extension String {
    fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}
