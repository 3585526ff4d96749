/// The headings under which help lists the commands, in order.
enum CommandSection: String, CaseIterable, Sendable, Encodable {
    case values = "Values"
    case earlierValues = "Earlier values"
    case otherPrograms = "Values for other programs"
    case importAndExport = "Import and export"
    case helpers = "Helpers of other tools"
    case preferences = "Preferences"
    case keys = "Keys"
    case members = "Members"
    case fromOthers = "Values from others"
    case copies = "Copies"
    case vault = "The vault"
    case help = "Help"

    /// The commands of the section, in the order of ``CommandName``.
    var commands: [CommandName] { CommandName.allCases.filter { $0.section == self } }
}

extension CommandName {
    var section: CommandSection {
        switch self {
        case .set, .get, .show, .attribute, .edit, .clipboard, .pick, .otp, .generate: .values
        case .list, .find, .exists, .remove, .move, .copy: .values
        case .history, .restore, .undo: .earlierValues
        case .run, .env, .inject: .otherPrograms
        case .importEntries, .export: .importAndExport
        case .preferenceGet, .preferenceSet, .preferenceList, .preferenceRemove: .preferences
        case .unlock, .lock: .keys
        case .keyList, .keyAdd, .keyRemove, .keyCheck, .keyReplace, .keyRotate, .keyShow, .keySplit, .keyJoin: .keys
        case .memberList, .memberAdd, .memberRemove, .memberDevice: .members
        case .drop, .collect: .fromOthers
        case .setupGit, .setupDocker, .setupAWS, .setupKube, .setupSSH, .setupDirenv: .helpers
        case .gitCredential, .dockerCredential, .awsCredential, .kubeCredential: .helpers
        case .askpass, .sshAdd, .systemdCredential: .helpers
        case .backup, .clone, .merge, .setupGitMerge: .copies
        case .initialize, .info, .doctor, .log, .verify, .compact, .salvage: .vault
        case .help, .completions, .man, .version: .help
        }
    }
}
