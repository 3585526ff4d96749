import LinuxSystem
import SealedLog

extension MemberList.Author {
    var wasMember: Bool { if case .member = self { true } else { false } }

    /// The name in quotation marks: it cannot look like what stands beside it.
    var line: String { name.quoted + (wasMember ? "" : " (no member then)") }
}
