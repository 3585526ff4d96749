/// Help that belongs to no single command.
enum HelpTopic: String, CaseIterable {
    case places
    case exitCodes = "exit-codes"
    case json

    var summary: String { content.summary }
    var text: String { content.text }

    private var content: (summary: String, text: String) {
        switch self {
        case .places: ("where the vault and its key file are", Self.placesText)
        case .exitCodes: ("what the exit codes mean", Self.exitCodesText)
        case .json: ("what --json writes", Self.jsonText)
        }
    }

    private static var exitCodesText: String {
        TextLayout.definitions(ExitCode.allCases.map { (String($0.rawValue), $0.meaning) })
    }

    private static let placesText = """
        The vault file is the first of these that is given:
          --vault PATH, or the name of a section of the configuration
          $VAULT_FILE
          the section [default] of the configuration
          $XDG_DATA_HOME/vault/default.vault   (default: ~/.local/share)

        The key file is the first of these that is given or, of the last three, that
        exists:
          --key-file PATH, or --key-fd or --key-command in its place
          $VAULT_KEY_FILE
          the key-file or key-command of the configuration
          $CREDENTIALS_DIRECTORY/vault.key     (systemd)
          /run/secrets/vault.key               (Docker, Kubernetes)
          $XDG_CONFIG_HOME/vault/default.key   (default: ~/.config)

        A missing key file is created with the vault; below $CREDENTIALS_DIRECTORY
        and /run/secrets, only by `vault init`.

        A key file that others can read is refused, unless it belongs to root, others
        cannot write it, and it is below $CREDENTIALS_DIRECTORY or /run/secrets, on a
        file system in memory or on a read-only one. With --accept-shared-key it may
        be anywhere.

        This folder keeps what this machine has seen of each vault, to notice a vault
        file that was rolled back or exchanged, and what you have agreed to:
          $XDG_STATE_HOME/vault                (default: ~/.local/state)

        The configuration names vaults:
          $XDG_CONFIG_HOME/vault/config        (default: ~/.config)
            [work]
            vault = ~/Sync/work.vault
            key-file = /media/usb/work.key
            # or: key-command = COMMAND, identity = PATH

        With --vault NAME, the key is that of the options, or of the section, or in
        $XDG_CONFIG_HOME/vault/NAME.key. To a vault that is given by its path, or by
        $VAULT_FILE, no section applies.

        """

    /// The one description of what `--json` writes. A test compares it with what is written.
    static let jsonText = """
        With --json, every command that succeeds writes one JSON object, on one line, to
        standard output. Later versions may add keys; those below stay.

          get       {"name", "value"}, or {"name", "value_base64"} if it is not UTF-8;
                    of several names, {"values": [{"name", "value"}]}
          set       {"name", "size", "stored", "replaced", "expires"}
          show      {"name", "size", "kind", "created", "modified", "expires",
                     "attributes": {KEY: VALUE}, "fields": [NAME]}
          attr      {"name", "attributes": {KEY: VALUE}}
          otp       {"name", "code", "kind", "seconds_left", "counter", "issuer",
                     "account"}
          generate  {"name", "value", "entropy_bits", "replaced"}, the value only
                     without NAME, or with --show
          edit      {"name", "size", "outcome"}
          copy      {"name", "tool", "clear_after"}
          pick      what copy, get or, with --show, show writes; with --name {"name"}
          ls, find  {"items": [{"name", "size", "kind", "created", "modified",
                     "expires", "attributes": {KEY: VALUE}}]}
          exists    {"name", "exists"}
          rm        {"removed": [NAME]}
          mv, cp    {"from", "to", "entries"}
          history   {"history_versions", "history_days"}
          history NAME
                    {"name", "versions": [{"version", "modified", "size"}]}
          restore   {"name", "version"}
          undo      {"names": [NAME]}
          log       {"is_on", "file", "dropped", "accesses": [{"number", "name", "time",
                     "command", "program", "process", "user", "started"}]}
          init      {"vault", "key_file", "made_vault", "made_key_file",
                     "key_file_is_beside_vault", "key_file_is_short"}
          info      {"vault", "key_file", "key_file_sharing", "id", "created",
                     "sequence", "entries", "file_size", "live_bytes", "dead_bytes",
                     "records_since_checkpoint", "memory_is_kept", "problems": [TEXT],
                     "keys_are_locked_in_memory", "history_versions",
                     "history_days", "drop_box", "keys": [KEY]}
          key ls    {"fingerprint", "keys": [KEY]}
          key add, key rm, key check
                    KEY: {"number", "kind", "label", "created", "recipient",
                     "command", "is_in_use", "cost": {"passes", "memory"}}
          key replace
                    {"key_file", "made_key_file"}
          key rotate
                    {"fingerprint", "dropped": [NUMBER]}
          key show  {"name", "value"}
          key split {"shares": [TEXT]}
          key join  {"key_file"}
          unlock    {"vault", "seconds"}
          lock      {"vault", "was_unlocked"}
          drop      {"name", "file"}, if it writes a file
          collect   {"names": [NAME]}
          env       {"variables": [{"name", "value"}]}, or "value_base64" as for get
          inject    {"file", "names": [NAME]}, if it writes a file
          import    {"dry_run", "skipped", "entries": [{"name", "size", "attributes",
                     "change"}]}
          export    {"file", "entries"}, if it writes a file
          backup    {"vault", "entries", "bytes"}
          merge     {"changed": [NAME], "conflicts": [NAME], "dropped": [NAME],
                     "keys"}
          setup git-merge
                    {"attributes", "written"}
          setup git, setup docker, setup aws, setup kube, setup ssh, setup direnv
                    {"settings": [TEXT], "written"}
          askpass   {"name", "value"}, as get
          ssh-add   {"name", "type", "comment", "lifetime", "confirms"}
          prefs get {"name", "value"}, or {"name", "value_base64"} if it is not UTF-8
          prefs set {"name", "file"}
          prefs ls  {"file", "items": [{"name", "kind"}]}
          prefs rm  {"removed": [NAME], "file"}
          verify    {"entries", "records", "bytes"}
          compact   {"size_before", "size_after"}
          salvage   {"vault", "certain", "doubtful": [NAME], "older": [NAME],
                     "lost": [NAME], "unnamed", "damage": [TEXT], "is_complete"}
          version   {"version"}
          help      {"commands", "global_options"}
          help COMMAND
                    {"name", "summary", "arguments", "options", "details", "examples",
                     "exit_codes"}
          help TOPIC
                    {"topic", "summary", "text"}

        log --on and log --off write "is_on" and "file" alone. "dropped" is the number
        of older reads that made room. Without a name, a switch was recorded.
        The output of `run` is its program's; only errors of vault are JSON.

        ls and find write their object while they read the vault. If they fail midway,
        the object is incomplete, and the exit code says why.

        git-credential, docker-credential, aws-credential and kube-credential write what
        the programs that run them expect, with or without it.

        Sizes are bytes. Times are UTC, such as "2026-01-31T09:05:00.120Z". What is
        unknown or missing is null. A kind is the type that a program has stored, or
        `set --type`: "text", "data", "boolean", "integer", "real", "date", "array",
        "dictionary", "null". What `set` stores without --type is "unspecified". The
        kind of a one-time code is "totp", "hotp" or "steam". The change of an import
        is "stored", "replaced", "unchanged" or "kept". The keys of a merge are "same",
        "of-this-copy" or "of-other-copy". The outcome of an edit is "stored",
        "replaced" or "unchanged". clear_after is seconds.

        Standard error gets one object per line. An error:
          {"error": {"code", "exit", "message"}}
        "exit" is the exit code, "message" is for people, and "code" is one of
        absent, busy, damaged, diverged, exchanged, exists, gone, invalid, locked,
        newer-format, no-vault, other, outcome-unknown, refused, rolled-back,
        unavailable, usage, wrong-type.
        A problem that did not stop the command has the same codes:
          {"warning": {"code", "message"}}
        A vault that was created along the way:
          {"note": {what init writes}}

        """
}
