import PlainStores

// A program that keeps nothing secret: it knows no vault.

enum Theme: String, StoredObject { case light, dark }

let theme = Storable<Theme>("theme").defaulting(to: .light)
let launches = Storable<Int>("launches").defaulting(to: 0)
let former: RAMStorable<Theme> = "former"

@main
enum Main {
    static func main() async throws {
        try VaultApp.identify(as: "plain")
        try await former.write(try await theme.read())
        try await theme.write(.dark)
        try await launches.update { $0 += 1 }
        let (old, new) = (try await former.read(), try await theme.read())
        print(old?.rawValue ?? "none", new.rawValue, try await launches.read())
    }
}
