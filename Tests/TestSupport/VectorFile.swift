package import Foundation

/// Returns the vectors in a JSON file, which contains a list of one type.
package func vectors<Vector: Decodable>(_ file: URL) throws -> [Vector] {
    try JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))
}
