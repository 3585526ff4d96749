// error: missing reinitialization of inout parameter 'transaction' after consume
import Vault

func escape(_ store: MemoryStore, _ key: RAMStorable<Int>) throws {
    try store.atomically { transaction in
        #if CONTROL
            try transaction.write(1, to: key)
        #else
            let kept = transaction
            _ = kept
        #endif
    }
}
