import Vault
import VaultCommand
import VaultShared

@main
enum Main {
    static func main() { VaultTool.main(databases: .postgreSQL) }
}
