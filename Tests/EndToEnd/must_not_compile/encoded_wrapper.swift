// error: type 'Account' does not conform to protocol 'Encodable'
// A property wrapper in a Codable type would have its secret encoded along.
import Vault

#if CONTROL
    struct Account {
        @KeychainStored("u.token") var token: String?
    }
#else
    struct Account: Encodable {
        @KeychainStored("u.token") var token: String?
    }
#endif
