/// Identifies a file together with its checkpoint. The identity alone is not enough, since a file that is overwritten
/// in place keeps it.
struct CheckpointFile: Hashable, Sendable {
    let origin: Authenticator
    let identity: RecordStoreIdentity
}
