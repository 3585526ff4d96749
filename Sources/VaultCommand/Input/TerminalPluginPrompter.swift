import Age
import Sealing

/// Shows at the terminal what age plugins say, and asks there what they ask.
struct TerminalPluginPrompter: PluginPrompter {
    func message(_ text: String, from plugin: String) -> Bool {
        TerminalLine.show("\(plugin): \(text.forTerminal)\n")
    }

    func confirm(_ text: String, yes: String, no: String?, from plugin: String) -> Bool? {
        let choices = no.map { "y: \(yes.forTerminal), n: \($0.forTerminal)" } ?? "y: \(yes.forTerminal)"
        let answer = TerminalLine.ask("\(plugin): \(text.forTerminal) (\(choices)) ")?.lowercased()
        switch answer {
        case "y", "yes": return true
        case "n", "no": return no == nil ? nil : false
        default: return nil
        }
    }

    func requestPublic(_ text: String, from plugin: String) -> String? {
        TerminalLine.ask("\(plugin): \(text.forTerminal) ")
    }

    func requestSecret(_ text: String, from plugin: String) -> SecretBytes? {
        // Swift flattens no optional of what cannot be copied.
        do { return try PassphrasePrompt.ask("\(plugin): \(text.forTerminal) ") } catch { return nil }
    }
}
