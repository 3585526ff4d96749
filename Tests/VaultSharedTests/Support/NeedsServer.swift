import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips what starts a database server if there is none, with its package as the reason.
    static var needsServer: Self { .enabled(if: Cluster.obstacle == nil, "\(Cluster.obstacle ?? "")") }
}
