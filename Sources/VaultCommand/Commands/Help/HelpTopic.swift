/// A help topic that is not about one particular command.
enum HelpTopic: String, CaseIterable {
    case locations, environment
    case exitCodes = "exit-codes"
    case json

    var summary: String { content.summary }
    var text: String { content.text }

    private var content: (summary: String, text: String) {
        switch self {
        case .locations: ("where the vault and its key file are", Self.locationsText)
        case .environment: ("which environment variables are used", TextLayout.definitions(Self.variables))
        case .exitCodes: ("what the exit codes mean", Self.exitCodesText)
        case .json: ("what --json writes", Self.jsonText)
        }
    }

    private static var exitCodesText: String {
        TextLayout.definitions(ExitCode.allCases.map { (String($0.rawValue), $0.meaning) })
    }

    /// All environment variables that this tool reads. HashiCorp's Vault reads other variables with the prefix VAULT_.
    static let variables = [
        ("VAULT_FILE", "The vault file, like --vault."),
        ("VAULT_KEY_FILE", "The key file, like --key-file."),
        ("CREDENTIALS_DIRECTORY", "A folder that may contain a key file, set by systemd."),
        ("HOME", "The home folder. The next four default to folders in it."),
        ("XDG_CONFIG_HOME", "Contains vault/default.key and vault/config (default: ~/.config)."),
        ("XDG_DATA_HOME", "Contains vault/default.vault (default: ~/.local/share)."),
        ("XDG_STATE_HOME", "Contains vault/ with this machine's rollback memory (default: ~/.local/state)."),
        ("XDG_CACHE_HOME", "Contains vault/ with copies of vaults in databases (default: ~/.cache)."),
        ("PGHOST, PGSERVICE, ...", "Settings of libpq, for a vault in a database."),
        ("PATH", "Where age plugins and other programs are found."),
        ("VISUAL, EDITOR", "The editor for `vault edit`."),
        ("WAYLAND_DISPLAY, DISPLAY", "Decide which clipboard `vault copy` uses."),
        ("XDG_RUNTIME_DIR", "Contains temporary files of wl-copy and `vault edit`, if you own this folder."),
        ("SSH_AUTH_SOCK", "The SSH agent for `vault ssh-add`."),
        ("DOCKER_CONFIG, AWS_CONFIG_FILE", "Where `vault setup` finds the settings of docker and AWS."),
    ]

    private static let locationsText = """
        The vault file is the first of these that is set:
          --vault PATH, or the name of a section of the configuration
          $VAULT_FILE
          the section [default] of the configuration
          $XDG_DATA_HOME/vault/default.vault   (default: ~/.local/share)

        The key file is the first of these (those of systemd and Docker, only if they
        exist):
          --key-file PATH, --key-fd or --key-command
          $VAULT_KEY_FILE
          the key-file or key-command of the configuration
          $CREDENTIALS_DIRECTORY/vault.key     (systemd)
          /run/secrets/vault.key               (Docker, Kubernetes)
          $XDG_CONFIG_HOME/vault/default.key   (default: ~/.config)

        A missing key file is created with the vault; below $CREDENTIALS_DIRECTORY
        and /run/secrets, only by `vault init`.

        A key file that others can read is refused, unless root owns it, others cannot
        write to it, and it is below $CREDENTIALS_DIRECTORY or /run/secrets, on a file
        system in memory or on a read-only one. --accept-shared-key accepts it at any
        path.

        This folder stores what this machine has seen of each vault, to detect a vault
        file that was rolled back or exchanged. It also stores your consents:
          $XDG_STATE_HOME/vault                (default: ~/.local/state)

        A vault in a PostgreSQL database has a URL instead of a path. The program
        `vault-shared` opens it, and keeps a sealed copy on this machine:
          postgresql://HOST/DATABASE#NAME
          $XDG_CACHE_HOME/vault                (default: ~/.cache)

        The configuration names vaults:
          $XDG_CONFIG_HOME/vault/config        (default: ~/.config)
            [work]
            vault = ~/Sync/work.vault
            key-file = /media/usb/work.key
            # or: key-command = COMMAND, identity = PATH
            [team]
            vault = postgresql://db.example.org/vaults#team
            offline = allow
            [project]
            vault = ~/project/secrets.vault
            # git may restore an older file, which is not an error
            kept-in = git

        With --vault NAME, the key is the one from the options, else from the section,
        else $XDG_CONFIG_HOME/vault/NAME.key. No section applies to a vault that is
        given by its path or by $VAULT_FILE.

        """

    /// The only description of the output of `--json`. A test compares it with the actual output.
    static let jsonText = """
        With --json, every command that succeeds writes one JSON object, on one line, to
        standard output. Later versions may add keys; those below stay. A key with a
        question mark may be missing. A word such as KEY stands for a string, or for the
        object described below. A command that has changed a vault in a database while
        the server was unreachable adds "pending": true (only stored on this machine).

          get       {"name", "value"?, "value_base64"?}: value_base64 if it is not UTF-8;
                    for several names, {"values": [{"name", "value"?, "value_base64"?}]}
          set       {"name", "size", "stored", "replaced", "expires"}
          show      {"name", "size", "kind", "created", "modified", "expires",
                     "attributes": {KEY: VALUE}, "fields": [NAME]}
          attr      {"name", "attributes": {KEY: VALUE}}
          otp       {"name", "code", "kind", "seconds_left", "counter", "issuer",
                     "account"}
          generate  {"name", "value"?, "entropy_bits", "replaced"}, with the value
                     without NAME, or with --show
          edit      {"name", "size", "outcome"}
          copy      {"name", "tool", "clear_after"}
          pick      {"name"} with --name; otherwise the output of copy, get or show
          ls, find  {"items": [{"name", "size", "kind", "created", "modified",
                     "expires", "attributes": {KEY: VALUE}}]}
          exists    {"name", "exists"}
          rm        {"removed": [NAME]}
          mv, cp    {"from", "to", "entries"}
          history   {"history_versions", "history_days"}
          history NAME
                    {"name", "versions": [{"version", "modified", "size",
                     "author", "author_was_member"}]}
          restore   {"name", "version"}
          undo      {"names": [NAME]}
          log       {"is_on", "file", "dropped", "accesses": [{"number", "name", "time",
                     "command", "program", "process", "user", "started",
                     "refused"}]}, or, with
                     --on or --off, {"is_on", "file"}; with --head, {"head"};
                     with --changes, {"changes": [{"time", "name", "removed",
                     "author", "author_was_member", "seen"}]}
          init      {"vault", "key_file", "made_vault", "made_key_file",
                     "key_file_is_beside_vault", "key_file_is_short"};
                     with --sql, {"sql"}
          info      {"vault", "key_file", "key_file_sharing", "id", "created",
                     "sequence", "entries", "file_size", "live_bytes", "dead_bytes",
                     "records_since_checkpoint", "memory_is_kept", "problems": [TEXT],
                     "keys_are_locked_in_memory", "history_versions",
                     "history_days", "drop_box", "copy", "copy_is_complete",
                     "pending", "keys": [KEY]}
          key ls    {"fingerprint", "keys": [KEY]}
          key add, key rm, key check
                    KEY: {"number", "kind", "label", "created", "recipient",
                     "command", "is_in_use", "cost": {"passes", "memory"}}
          key replace
                    {"key_file", "made_key_file"}
          key rotate
                    {"fingerprint", "dropped": [NUMBER], "keys": [KEY]}
          key show  {"name", "value"}
          key split {"shares": [TEXT]}
          key join  {"key_file"}
          member ls {"members": [MEMBER]}
          member add
                    MEMBER: {"name", "added_by",
                     "devices": [{"device", "since", "recipient"}]}
          member rm {"name", "rotated", "keys": [KEY], "added": [NAME]}
          member device
                    {"device"}
          unlock    {"vault", "seconds"}
          lock      {"vault", "was_unlocked", "locked_all"}
          drop      {"name", "file"}, if it writes a file
          collect   {"names": [NAME]}
          env       {"variables": [{"name", "value"?, "value_base64"?}]}, as for get
          inject    {"file", "names": [NAME]}, if it writes a file
          import    {"dry_run", "skipped", "entries": [{"name", "size",
                     "attributes": {KEY: VALUE}, "change"}]}
          export    {"file", "entries"}, if it writes a file
          backup, clone
                    {"vault", "entries", "bytes"}
          merge     {"changed": [NAME], "conflicts": [NAME], "dropped": [NAME],
                     "keys", "refused": [NAME], "keys_added": [KEY],
                     "keys_lost": [KEY], "keys_removed": [KEY],
                     "keys_here_alone": [KEY], "keys_there_alone": [KEY],
                     "removed_members": [NAME], "members_here_alone": [NAME],
                     "members_there_alone": [NAME]} for one OTHER; otherwise a list
                     of these as "copies", with their "files"
          setup git-merge
                    {"attributes", "written"}
          setup git, setup docker, setup aws, setup kube, setup ssh, setup direnv
                    {"settings": [TEXT], "written"}
          askpass   {"name", "value"}, as for get
          ssh-add   {"name", "type", "comment", "lifetime", "confirms"}
          prefs get {"name", "value"?, "value_base64"?}, as for get
          prefs set {"name", "file"}
          prefs ls  {"file", "items": [{"name", "kind"}]}
          prefs rm  {"removed": [NAME], "file"}
          doctor    {"checks": [{"name", "state", "message", "fix"}]}
          verify    {"entries", "records", "bytes", "unsigned": [NAME],
                     "unsigned_since", "foreign": [NAME], "of_non_members": [NAME]}
          compact   {"size_before", "size_after"}
          salvage   {"vault", "certain", "doubtful": [NAME], "older": [NAME],
                     "lost": [NAME], "lost_versions": [{"name", "version",
                     "modified"}], "unnamed", "damage": [TEXT], "is_complete",
                     "left_behind": [PART]} (PART: header, manifest, members,
                     keys, accesses)
          version   {"version", "libraries": [{"package", "version", "source",
                     "source_version"}]}
          help      {"commands": [COMMAND], "global_options": [OPTION]}
          help COMMAND
                    COMMAND: {"name", "summary", "arguments": [{"name", "count",
                     "choices": [TEXT], "completion", "help"}], "options": [OPTION],
                     "details": [TEXT], "examples": [{"line", "meaning"}],
                     "exit_codes": [{"code": NUMBER, "meaning"}]}
          OPTION    {"name", "short"?, "value"?, "choices": [TEXT], "is_repeatable",
                     "completion", "help"}
          help TOPIC
                    {"topic", "summary", "text"}
          completions
                    {"shell", "script"}
          completions --words
                    {"kind", "words": [{"word", "meaning"?}]}
          man       {"page"}

        "dropped" is the number of older accesses that were removed to make room. An
        access without a name records that the log was switched on or off. The output of
        `run` is that of its program; only errors of vault are JSON.

        ls and find write their object while they read the vault. If they fail midway,
        the object is incomplete, and the exit code gives the reason.

        git-credential, docker-credential, aws-credential, kube-credential and
        systemd-credential write what their callers expect, with or without --json.

        Sizes are bytes. Times are UTC, such as "2026-01-31T09:05:00.120Z". A value that
        is unknown or missing is null. A kind is the type that a program or `set --type`
        has stored: "text", "data", "boolean", "integer", "real", "date", "array",
        "dictionary", "null". A value that `set` stores without --type is "unspecified".
        The kind of a one-time code is "totp", "hotp" or "steam". The change of an import
        is "stored", "replaced", "unchanged" or "kept". The keys of a merge are "same",
        "of-this-copy" or "of-other-copy". The outcome of an edit is "stored",
        "replaced" or "unchanged". clear_after is in seconds.

        Standard error gets one object per line. An error:
          {"error": {"code", "exit", "message"}}
        "exit" is the exit code, "message" is for people, and "code" is one of
        absent, busy, damaged, diverged, exchanged, exists, gone, invalid, locked,
        newer-format, no-vault, other, outcome-unknown, refused, rolled-back,
        unavailable, usage, wrong-type.
        A problem that did not stop the command uses the same codes:
          {"warning": {"code", "message"}}
        A vault that was created implicitly:
          {"note": {what init writes}}

        """
}
