// error: 'secret' is borrowed and cannot be consumed
import Vault

func count(_ secret: borrowing SecretBytes) -> Int {
    #if CONTROL
        return secret.count
    #else
        let copy = secret
        return copy.count
    #endif
}
