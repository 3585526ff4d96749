import FoundationEssentials

/// A new folder, for what has to lie at a path.
func temporaryFolder() throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "vault-snippets-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder.path
}
