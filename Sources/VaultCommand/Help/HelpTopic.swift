/// Help that belongs to no single command.
enum HelpTopic: String, CaseIterable {
    case places
    case exitCodes = "exit-codes"
    case json

    var summary: String {
        switch self {
        case .places: "where vault and key are looked for"
        case .exitCodes: "what the exit codes mean"
        case .json: "what --json writes"
        }
    }

    var text: String {
        switch self {
        case .places: Self.placesText
        case .exitCodes: Self.exitCodesText
        case .json: Self.jsonText
        }
    }

    private static var exitCodesText: String {
        TextLayout.definitions(ExitCode.allCases.map { (String($0.rawValue), $0.meaning) })
    }

    private static let placesText = """
        The vault file is the first of these that is given:
          --vault PATH
          $VAULT_FILE
          $XDG_DATA_HOME/vault/default.vault   (~/.local/share unless it is set)

        The key file is the first of these that is given or, of the last three, that
        exists:
          --key-file PATH
          $VAULT_KEY_FILE
          $CREDENTIALS_DIRECTORY/vault.key     (systemd)
          /run/secrets/vault.key               (Docker, Kubernetes)
          $XDG_CONFIG_HOME/vault/default.key   (~/.config)

        A key file that others than its owner can read is refused, unless it is root's
        and they cannot write it, and it lies below $CREDENTIALS_DIRECTORY or
        /run/secrets, on a file system in memory or on one that is mounted read-only.
        With --accept-shared-key it may lie anywhere.

        What this machine has seen of each vault is kept in this folder, so that a file
        that was put back or exchanged is noticed:
          $XDG_STATE_HOME/vault                (~/.local/state)

        """
}
