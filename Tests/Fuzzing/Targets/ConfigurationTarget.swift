import Vault

extension FuzzTarget {
    /// The file that names vaults.
    static let configuration = FuzzTarget(name: "configuration") {
        [
            "# mine\n[work]\nvault = ~/Sync/work.vault\nkey-file = \"/media/usb/key \\\"of\\\" work\"\n",
            "\u{FEFF}[default]\r\nvault=work.vault\r\nkey-command = gpg -d \"key\" # all of it\r\nidentity = ./~\r\n",
            "[a]\nvault = /\n[b-._]\n\tvault\t=\t\"\\\\\"\n",
        ].map { Array($0.utf8) }
    } feed: { input, _ in
        let read = try? VaultConfiguration(parsing: input, path: "/home/mia/.config/vault/config", home: "/home/mia")
        guard let sections = read?.sections else { return }
        check(Set(sections.map(\.name)).count == sections.count, "two sections have a name")
        for section in sections {
            let paths = [section.vault, section.keyFile, section.identity].compactMap(\.self)
            check(paths.allSatisfy { $0.hasPrefix("/") }, "a path is relative")
            let texts = paths + [section.name, section.keyCommand].compactMap(\.self)
            let isPlain = texts.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }
            check(isPlain, "a text has control characters")
        }
    }
}
