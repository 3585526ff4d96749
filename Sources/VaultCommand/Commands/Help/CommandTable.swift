/// The table of commands. Each description is a lazily created static property, so a run creates only those it needs.
extension CommandName {
    var command: any Command.Type {
        switch self {
        case .initialize: InitCommand.self
        case .set: SetCommand.self
        case .get: GetCommand.self
        case .show: ShowCommand.self
        case .attribute: AttributeCommand.self
        case .otp: OTPCommand.self
        case .generate: GenerateCommand.self
        case .edit: EditCommand.self
        case .clipboard: ClipboardCommand.self
        case .pick: PickCommand.self
        case .list: ListCommand.self
        case .find: FindCommand.self
        case .exists: ExistsCommand.self
        case .remove: RemoveCommand.self
        case .move: MoveCommand.self
        case .copy: CopyCommand.self
        case .history: HistoryCommand.self
        case .restore: RestoreCommand.self
        case .undo: UndoCommand.self
        case .log: LogCommand.self
        case .unlock: UnlockCommand.self
        case .lock: LockCommand.self
        case .keyList: KeyListCommand.self
        case .keyAdd: KeyAddCommand.self
        case .keyRemove: KeyRemoveCommand.self
        case .keyCheck: KeyCheckCommand.self
        case .keyReplace: KeyReplaceCommand.self
        case .keyRotate: KeyRotateCommand.self
        case .keyShow: KeyShowCommand.self
        case .keySplit: KeySplitCommand.self
        case .keyJoin: KeyJoinCommand.self
        case .memberList: MemberListCommand.self
        case .memberAdd: MemberAddCommand.self
        case .memberRemove: MemberRemoveCommand.self
        case .memberDevice: MemberDeviceCommand.self
        case .drop: DropCommand.self
        case .collect: CollectCommand.self
        case .run: RunCommand.self
        case .env: EnvCommand.self
        case .inject: InjectCommand.self
        case .importEntries: ImportCommand.self
        case .export: ExportCommand.self
        case .backup: BackupCommand.self
        case .clone: CloneCommand.self
        case .merge: MergeCommand.self
        case .setupGitMerge: SetupGitMergeCommand.self
        case .setupGit: SetupGitCommand.self
        case .setupDocker: SetupDockerCommand.self
        case .setupAWS: SetupAWSCommand.self
        case .setupKube: SetupKubeCommand.self
        case .setupSSH: SetupSSHCommand.self
        case .setupDirenv: SetupDirenvCommand.self
        case .gitCredential: GitCredentialCommand.self
        case .dockerCredential: DockerCredentialCommand.self
        case .awsCredential: AWSCredentialCommand.self
        case .kubeCredential: KubeCredentialCommand.self
        case .askpass: AskpassCommand.self
        case .sshAdd: SSHAddCommand.self
        case .systemdCredential: SystemdCredentialCommand.self
        case .preferenceGet: PreferenceGetCommand.self
        case .preferenceSet: PreferenceSetCommand.self
        case .preferenceList: PreferenceListCommand.self
        case .preferenceRemove: PreferenceRemoveCommand.self
        case .info: InfoCommand.self
        case .doctor: DoctorCommand.self
        case .verify: VerifyCommand.self
        case .compact: CompactCommand.self
        case .salvage: SalvageCommand.self
        case .help: HelpCommand.self
        case .completions: CompletionsCommand.self
        case .man: ManCommand.self
        case .version: VersionCommand.self
        }
    }

    var description: CommandDescription { command.description }
}

extension CommandSection {
    var commands: [CommandName] { CommandName.allCases.filter { $0.description.section == self } }
}
