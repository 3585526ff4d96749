import VaultCommand
// Lets the command open vaults in a database.
import VaultShared

@main
enum Main {
    static func main() { VaultTool.main() }
}
