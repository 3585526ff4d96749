import Glibc
import LinuxSystem
import Vault

enum DoctorCommand: Command {
    static let description = CommandDescription(
        name: .doctor, section: .vault, summary: "check for common problems, and explain how to fix them",
        details: """
            Prints one line per check: ok, warning or problem. It opens the vault as any command does, but opens no \
            value; `vault verify` reads everything. It also removes temporary files that a killed `vault edit` left in \
            memory.
            """,
        exitCodes: [.init(.other, "at least one check found a problem")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let checks = vaultChecks(invocation) + SystemChecks.all
        let hasProblem = checks.contains { $0.state == .problem }
        return try invocation.finish(hasProblem ? .other : .success, json: ["checks": checks.map(\.report)]) {
            checks.map { StandardOutput.shown($0.line) }.joined()
        }
    }

    private static func vaultChecks(_ invocation: Invocation) -> [HealthCheck] {
        let advised = AdvisedCommand(invocation)
        let location: VaultLocation
        do { location = try invocation.location() } catch { return [.problem("locations", error, advised)] }
        let outside = FileChecks(location: location, rules: rules(location, invocation), advised: advised)
        let files = outside.all
        let warnings = Mutex<[HealthCheck]>([])
        let failures = FailureLog { error, _ in
            warnings.withLock { $0.append(.warning("use", CommandError(error, advising: advised).message)) }
        }
        do {
            let keychain = try Keychain(at: location, options: invocation.vaultOptions(), failures: failures)
            let found = try VaultChecks.all(keychain, memory: keychain.maintenance.memoryState, advised)
            // A warning may repeat one of the vault's problems, for example that the rollback memory is unusable.
            let problems = found.map(\.message)
            return files + found + warnings.withLock { $0 }.filter { !problems.contains($0.message) }
        } catch let error as VaultError where error.code == .noVault {
            return [outside.noVault] + files.filter { $0.name != outside.noVault.name }
        } catch { return files + [.problem("opening", error, advised)] }
    }

    private static func rules(_ location: VaultLocation, _ invocation: Invocation) -> (vault: String, key: String) {
        func rule(_ path: String, _ options: [OptionName], _ variable: String, standard: [String]) -> String {
            if let option = options.first(where: invocation.has) { return "from \(option.spelling)" }
            if let value = getenv(variable), String(cString: value) == path { return "from $\(variable)" }
            return standard.contains(where: path.hasSuffix) ? "at its standard path" : "from the configuration"
        }
        return (
            rule(location.vault, [.vault], "VAULT_FILE", standard: ["/vault/default.vault"]),
            rule(
                location.keyFile, [.keyFile, .keyFD], "VAULT_KEY_FILE",
                // The paths of key files that systemd, Docker or Kubernetes provide end with `/vault.key`.
                standard: ["/vault/default.key", "/vault.key"])
        )
    }
}
