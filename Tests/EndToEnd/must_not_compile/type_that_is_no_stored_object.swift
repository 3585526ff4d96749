// error: type 'Token' does not conform to protocol 'StoredObject'
import Vault

struct Token {
    var text: String
}

#if CONTROL
    extension Token: StoredObject {
        func toPrimitive() -> String? { text }
        static func from(primitive: String) -> Token? { Token(text: primitive) }
    }
#endif

let token: KeychainStorable<Token> = "u.token"
