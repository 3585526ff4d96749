import Sealing

/// The configuration file of the AWS tools, whose sections contain lines of the form `key = value`. A change preserves
/// all other lines byte for byte.
package struct AWSProfiles: Sendable {
    private var lines: [ArraySlice<UInt8>]

    package init(_ bytes: [UInt8]) {
        lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    package var bytes: [UInt8] { Array(lines.joined(separator: [UInt8(ascii: "\n")])) }

    /// Returns whether a section header can contain this profile's name.
    package static func canName(_ profile: String) -> Bool {
        !profile.isEmpty && !profile.unicodeScalars.contains { $0 == "]" || $0 == "\"" || Character($0).isNewline }
    }

    package static func header(of profile: String) -> String {
        if profile == "default" { return "[default]" }
        return profile.contains(where: \.isWhitespace) ? "[profile \"\(profile)\"]" : "[profile \(profile)]"
    }

    /// Returns the value of a key in a profile; nil if the profile or the key is missing.
    package func value(of key: String, in profile: String) -> String? {
        guard let section = section(of: profile) else { return nil }
        for line in lines[section].map(text) {
            // An indented line continues the line before it.
            guard let equals = line.firstIndex(of: "="), line.first?.isWhitespace == false else { continue }
            if trimmed(line[..<equals]) == key { return trimmed(line[line.index(after: equals)...]) }
        }
        return nil
    }

    /// Adds the line `key = value` to a profile. Creates the profile if it does not exist.
    package mutating func add(_ key: String, _ value: String, to profile: String) {
        let line = Array("\(key) = \(value)".utf8)[...]
        if let section = section(of: profile) {
            lines.insert(line, at: section.lowerBound + 1)
            return
        }
        // The last element of `lines` is the text after the file's last newline; it is empty if the file ends in one.
        if lines.last?.isEmpty == false { lines.append([]) }
        let isFirst = lines.count == 1
        lines += (isFirst ? [] : [[]])
        lines.insert(contentsOf: [Array(AWSProfiles.header(of: profile).utf8)[...], line], at: lines.count - 1)
    }

    /// Removes a line added by ``add(_:_:to:)``. Also removes the profile if only blank lines remain in it.
    package mutating func remove(_ key: String, _ value: String, from profile: String) {
        let line = Array("\(key) = \(value)".utf8)[...]
        guard let section = section(of: profile), let index = lines[section].firstIndex(of: line) else { return }
        lines.remove(at: index)
        let header = section.lowerBound
        let rest = (header + 1)..<(section.upperBound - 1)
        guard lines[rest].allSatisfy(\.isEmpty), lines.count > header + 1 else { return }
        lines.remove(at: header)
        if header > 0, lines[header - 1].isEmpty { lines.remove(at: header - 1) }
    }

    private func section(of profile: String) -> Range<Int>? {
        let header = lines.firstIndex { line in
            AWSProfiles.profile(ofHeader: text(line)).map { $0.utf8.elementsEqual(profile.utf8) } ?? false
        }
        guard let header else { return nil }
        let next = lines[(header + 1)...].firstIndex { $0.first == UInt8(ascii: "[") }
        return header..<(next ?? lines.count)
    }

    private static func profile(ofHeader line: String) -> String? {
        guard line.hasPrefix("["), let end = line.firstIndex(of: "]") else { return nil }
        let title = line[..<end].dropFirst().trimming(while: \.isWhitespace)
        if title == "default" { return "default" }
        let name = title.dropFirst("profile".count)
        guard title.hasPrefix("profile"), name.first?.isWhitespace == true else { return nil }
        return name.trimming(while: \.isWhitespace).unquoted("\"")
    }

    private func text(_ line: ArraySlice<UInt8>) -> String { String(decoding: line, as: UTF8.self) }
    private func trimmed(_ text: Substring) -> String { String(text.trimming(while: \.isWhitespace)) }
}

extension Substring {
    fileprivate func unquoted(_ quote: Character) -> String {
        count >= 2 && first == quote && last == quote ? String(dropFirst().dropLast()) : String(self)
    }
}
