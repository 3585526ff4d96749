// error: requires that 'RawSpan' conform to 'Escapable'
import Vault

func length(_ secret: borrowing SecretBytes) -> Int {
    #if CONTROL
        secret.withBytes { span in span.byteCount }
    #else
        secret.withBytes { span in span }.byteCount
    #endif
}
