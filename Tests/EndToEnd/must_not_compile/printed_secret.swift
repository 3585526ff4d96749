// error: requires that 'SecretBytes' conform to 'Copyable'
import Vault

func show(_ secret: borrowing SecretBytes) {
    #if CONTROL
        dump(secret.count)
    #else
        dump(secret)
    #endif
}
