import Formats

enum SetupAWSCommand: Command {
    static let description = CommandDescription(
        name: .setupAWS, section: .helpers, summary: "set up AWS tools to get a profile's keys from the vault",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The entry; see `vault help aws-credential`.")],
        options: [
            .init(name: .profile, value: "PROFILE", help: "The profile (default: default)."), .dryRun, .undo,
        ],
        details: [
            """
            Adds a line credential_process to the profile in $AWS_CONFIG_FILE or ~/.aws/config. Other lines of the \
            file stay.
            """,
            """
            AWS tools prefer keys of the same profile in ~/.aws/credentials: remove them there.
            """,
        ],
        examples: [.init("vault setup aws aws/work --profile work", "then run: aws --profile work s3 ls")],
        exitCodes: [.init(.refused, "the profile has another credential_process")])

    private static let key = "credential_process"

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let profile = invocation.value(of: .profile) ?? "default"
        guard AWSProfiles.canName(profile) else {
            throw CommandError.invalid("Invalid profile name: it is empty, or contains \", ] or a line break.")
        }
        let command = OtherProgram.line(
            [OtherProgram.ownWord, CommandName.awsCredential.rawValue, invocation.name] + (try invocation.handedOn()))
        let file = try EditedFile(OtherProgram.path(".aws/config", orIn: "AWS_CONFIG_FILE"))
        var profiles = AWSProfiles(file.contents)
        let former = profiles.value(of: key, in: profile)
        return try invocation.finish(
            Setting(
                lines: ["\(file.path): \(AWSProfiles.header(of: profile))", "\(key) = \(command)"],
                write: {
                    guard former == nil || former == command else {
                        throw CommandError.refused(
                            "The profile \(profile) in \(file.path) has another \(key). Remove it first.")
                    }
                    if former == nil { profiles.add(key, command, to: profile) }
                    return try file.write(profiles.bytes)
                },
                undo: {
                    profiles.remove(key, command, from: profile)
                    return try file.write(profiles.bytes)
                }))
    }
}
