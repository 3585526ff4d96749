enum VersionCommand: Command {
    static let description = CommandDescription(name: .version, summary: "show the version")

    static func run(_ session: Session) throws -> ExitCode {
        try session.print(json: VersionReport(version: Version.current)) { "vault \(Version.current)\n" }
        return .success
    }
}

struct VersionReport: Encodable {
    let version: String
}
