// A vault in a database, in a program that does not import the module that opens it.
//
// error: type 'VaultLocation' has no member 'database'
import Vault

#if CONTROL
    import VaultShared
#endif

func open() throws -> Keychain { try Keychain(at: .database("postgresql://db.example.org/vaults#team")) }
