import LinuxSystem
import SealedLog

extension MemberList.Author {
    var wasMember: Bool { if case .member = self { true } else { false } }

    /// The name in quotation marks, so that it cannot imitate the text beside it.
    var line: String { name.quoted + (wasMember ? "" : " (not a member then)") }
}
