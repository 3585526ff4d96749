import Foundation
import LinuxSystem
import Sealing
import Testing

@testable import Age

/// A folder with `age-plugin-vaulttest` under a name that says how it behaves.
final class TestPlugin {
    let name: String
    let folder: String

    /// Why no plugin can be started here; nil if one can.
    static var obstacle: String? {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.contains { access("\($0)/python3", X_OK) == 0 }
            ? nil : "there is no python3, which the plugin for tests is written in"
    }

    init(_ mode: String) throws {
        name = mode.isEmpty ? "vaulttest" : "vaulttest-\(mode)"
        let plugins = try #require(Bundle.module.url(forResource: "Plugins", withExtension: nil))
        let location = FileManager.default.temporaryDirectory.appending(path: "age-plugins-\(UUID())")
        try FileManager.default.createDirectory(at: location, withIntermediateDirectories: false)
        folder = location.path
        try FileManager.default.createSymbolicLink(
            at: location.appending(path: "age-plugin-\(name)"),
            withDestinationURL: plugins.appending(path: "age-plugin-vaulttest"))
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func withPlugin<Result>(_ prompter: any PluginPrompter, _ body: (Plugin) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(Plugin(name: name, prompter: prompter, folders: folder)) }
    }
}

/// Answers as a person would, and remembers the questions.
final class Person: PluginPrompter {
    private struct State {
        var confirms: [Bool]
        var heard: [String] = []
    }

    private let state: Mutex<State>
    private let secret: String

    init(confirms: [Bool], secret: String = "4321") {
        state = Mutex(State(confirms: confirms))
        self.secret = secret
    }

    var heard: [String] { state.withLock { $0.heard } }

    func message(_ text: String, from plugin: String) -> Bool {
        state.withLock { $0.heard.append("message: \(text)") }
        return true
    }

    func confirm(_ text: String, yes: String, no: String?, from plugin: String) -> Bool? {
        state.withLock { state in
            state.heard.append("confirm: \(text) \(yes)/\(no ?? "-")")
            return state.confirms.isEmpty ? nil : state.confirms.removeFirst()
        }
    }

    func waiting(forPlugin plugin: String) { state.withLock { $0.heard.append("waiting") } }

    func requestPublic(_ text: String, from plugin: String) -> String? {
        state.withLock { $0.heard.append("public: \(text)") }
        return "Ada"
    }

    func requestSecret(_ text: String, from plugin: String) -> SecretBytes? {
        state.withLock { $0.heard.append("secret: \(text)") }
        return try? SecretBytes(copyOf: Array(secret.utf8))
    }
}
