// error: requires that 'KeychainStorable<String>' conform to 'Encodable'
import Foundation
import Vault

func json(_ token: KeychainStorable<String>) throws -> Data {
    #if CONTROL
        try JSONEncoder().encode(token.read())
    #else
        try JSONEncoder().encode(token)
    #endif
}
