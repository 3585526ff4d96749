import Foundation

/// Returns a file from the folder KeyedArchives.
package func keyedArchive(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: Bundle.module.bundleURL.appending(path: "KeyedArchives/\(name).plist")))
}
