// error: type 'Account' does not conform to protocol 'Decodable'
import Vault

#if CONTROL
    struct Account {
        @KeychainStored("u.token") var token: String?
    }
#else
    struct Account: Decodable {
        @KeychainStored("u.token") var token: String?
    }
#endif
