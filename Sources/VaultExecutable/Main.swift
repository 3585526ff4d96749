import VaultCommand

@main
enum Main {
    static func main() { VaultTool.main() }
}
