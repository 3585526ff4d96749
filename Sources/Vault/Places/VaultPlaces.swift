/// Where a vault, its key file, and this machine's memory of it are.
public struct VaultPlaces: Hashable, Sendable {
    /// The path of the vault file.
    public var vault: String
    /// The path of the key file.
    public var keyFile: String
    /// The folder in which this machine remembers how far vaults had come, so that an older or exchanged one is noticed;
    /// nil keeps no memory.
    public var memory: String?
    /// Folders below which root's key files may be readable by others, as systemd and Docker make them.
    package var secretFolders: [String] = VaultPlaces.dockerSecrets

    static let dockerSecrets = ["/run/secrets"]

    /// Names the places.
    public init(vault: String, keyFile: String, memory: String?) {
        self.vault = vault
        self.keyFile = keyFile
        self.memory = memory
    }
}
