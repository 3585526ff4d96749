import Formats

enum SetupAWSCommand: Command {
    static let description = CommandDescription(
        name: .setupAWS, summary: "let AWS tools take a profile's keys from the vault",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The entry; see `vault help aws-credential`.")],
        options: [
            .init(name: .profile, value: "PROFILE", help: "The profile (default: default)."), .dryRun, .undo,
        ],
        details: [
            """
            Adds a line credential_process to the profile in $AWS_CONFIG_FILE, or in ~/.aws/config. The file's other \
            lines stay as they are.
            """,
            """
            Keys of the same profile in ~/.aws/credentials are used first: remove them there.
            """,
        ],
        examples: [.init("vault setup aws aws/work --profile work", "then: aws --profile work s3 ls")],
        exitCodes: [.init(.refused, "the profile has another credential_process")])

    private static let key = "credential_process"

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let profile = invocation.value(of: .profile) ?? "default"
        guard AWSProfiles.canName(profile) else {
            throw CommandError.invalid("The name of a profile has no \", ] or line break, and is not empty.")
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
