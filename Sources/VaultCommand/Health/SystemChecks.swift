import CLinux
import Glibc
import LinuxSystem

/// Checks what the system permits this process to do.
enum SystemChecks {
    static var all: [HealthCheck] {
        [coreDumps, lockedMemory, keyring, editedTexts] + [LibraryCheck.check].compactMap(\.self) + programs
    }

    private static var coreDumps: HealthCheck {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0, limit.rlim_cur == 0,
            vault_is_dumpable() == 0
        else { return .warning("core dumps", "They could not be disabled for this process.") }
        return .ok("core dumps", "disabled; your other programs cannot read vault's memory either")
    }

    private static var lockedMemory: HealthCheck {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0 else {
            return .ok("locked memory", "without a known limit")
        }
        guard limit.rlim_cur >= 1 << 20 else {
            return .warning(
                "locked memory", "Only \(Quantity.size(Int(limit.rlim_cur))) can be locked against swapping.",
                fix: "Raise `ulimit -l` to 8192.")
        }
        let size = limit.rlim_cur > UInt(Int.max) ? "no limit" : "up to \(Quantity.size(Int(limit.rlim_cur)))"
        return .ok("locked memory", size)
    }

    private static var keyring: HealthCheck {
        do throws(SystemError) { try KernelKeyring.check() } catch {
            return .warning(
                "kernel keyring", "`vault unlock` does not work here: \(SystemError.message(for: error.number)).",
                fix: "Containers often forbid it. Allow the system calls add_key and keyctl.")
        }
        return .ok("kernel keyring", "usable: `vault unlock` works")
    }

    private static var editedTexts: HealthCheck {
        let removed = ScratchFolder.removeLeftovers()
        let open = ScratchFolder.openCount
        let found = [
            removed == 0 ? nil : "removed temporary files that a killed `vault edit` left in memory",
            open == 0 ? nil : open == 1 ? "one value is being edited" : "\(open) values are being edited",
        ].compactMap(\.self)
        let kept = ScratchFolder.kept
        guard !kept.isEmpty else {
            return .ok("edited values", found.isEmpty ? "none left in memory" : found.joined(separator: "; "))
        }
        let folders = kept.map { AdvisedCommand.word($0) }.joined(separator: " ")
        return .warning(
            "edited values",
            "Memory contains values that `vault edit` could not store: \(kept.joined(separator: ", "))."
                + (found.isEmpty ? "" : " Also: \(found.joined(separator: "; "))."),
            fix: "Store the values that you still need, then run `rm -r \(folders)`.")
    }

    private static var programs: [HealthCheck] { [command, helpers, hashiCorp, clipboard].compactMap(\.self) }

    private static var command: HealthCheck {
        guard let found = OtherProgram.path(of: "vault") else {
            return .warning("command", "`vault` is not in the PATH.", fix: "Add its folder to the PATH.")
        }
        guard let own = vault_program_path().map({ String(cString: $0) }) else { return .ok("command", found) }
        // This program may be `vault-shared`, which the `vault` in the same folder starts for a vault in a database.
        let isOwn = [own, "\(own.parentFolder)/vault"].contains { OtherProgram.isSameFile($0, found) }
        guard !isOwn else { return .ok("command", found) }
        return .warning(
            "command", "`vault` in the PATH is another file: \(found). HashiCorp's Vault has the same name.",
            fix: "Put this program's folder first in the PATH, or run it as `svault`.")
    }

    private static var helpers: HealthCheck? {
        let missing = HelperName.allCases.map(\.rawValue).filter { OtherProgram.path(of: $0) == nil }
        guard !missing.isEmpty else { return .ok("helpers", "in the PATH") }
        return .warning(
            "helpers", "Not in the PATH: \(missing.joined(separator: ", ")).",
            fix: "Link these names to `vault` in a folder of the PATH, if you want other programs to use them.")
    }

    private static var hashiCorp: HealthCheck? {
        let found = ["VAULT_ADDR", "VAULT_TOKEN", "VAULT_NAMESPACE"].filter { (name: String) in getenv(name) != nil }
        guard !found.isEmpty else { return nil }
        return .ok("environment", "\(found.joined(separator: ", ")): for HashiCorp's Vault, not read by this tool")
    }

    /// The result of checking that a clipboard program is installed; nil if there is no desktop.
    private static var clipboard: HealthCheck? {
        let tools = Clipboard.candidates.filter { $0 != .terminal }.map(\.rawValue)
        guard !tools.isEmpty else { return nil }
        if let tool = tools.first(where: OtherProgram.isInstalled) { return .ok("clipboard", tool) }
        return .warning("clipboard", "No clipboard program is installed.", fix: "Install \(tools[0]).")
    }
}
