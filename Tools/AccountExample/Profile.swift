import Vault
import VaultAccount

/// What the app knows of a person beside the login.
///
/// Fields that come with a later version are optional, so that what an older one has stored can still be read.
struct Profile: AccountProfile {
    var nickname: String
    var points: Int
    var collectIds: [String]
    var avatarUrl: String?
}
