import ArgumentParser
import Importer

/// `ENTITY.NAME`, or `*.NAME` for every entity.
enum PropertyName {
    /// - Throws: `ValidationError` where there is no dot, or nothing beside it.
    static func parse(_ text: String, of option: String) throws -> DifferenceOptions.Property {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw ValidationError("\(option) \(text): write ENTITY.NAME, or *.NAME for every entity")
        }
        return .init(String(parts[1]), of: parts[0] == "*" ? nil : String(parts[0]))
    }
}
