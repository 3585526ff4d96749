// error: cannot assign to property: 'utility' is a 'let' constant
// A group of keys in a `let` is read-only through `.value`; the calls that throw write all the same.
import Vault

struct Utility {
    var token: KeychainStorable<String> = "u.token"
}

func write() throws {
    #if CONTROL
        var utility = Utility()
    #else
        let utility = Utility()
    #endif
    utility.token.value = "new"
    try utility.token.write("newer")
}
