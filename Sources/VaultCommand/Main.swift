import Glibc

@main
enum Main {
    static func main() {
        exit(VaultTool.run().rawValue)
    }
}
