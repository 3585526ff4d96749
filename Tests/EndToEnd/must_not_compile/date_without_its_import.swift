// error: cannot find type 'Date' in scope
import Vault

#if CONTROL
    import FoundationEssentials
#endif

func visited() -> Storable<Date> { "visited" }
