/// A file together with the checkpoint in it: a file that is overwritten in place keeps its identity.
struct CheckpointFile: Hashable, Sendable {
    let origin: Authenticator
    let identity: RecordStoreIdentity
}
