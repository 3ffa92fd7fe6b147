import ArgumentParser

/// By which attributes objects are the same.
enum IdentifierArguments {
    /// What `--identifier ENTITY:A,B` says, by entity.
    static func parse(_ texts: [String]) throws -> [String: [String]] {
        var identifiers: [String: [String]] = [:]
        for text in texts {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw ValidationError("--identifier \(text): write ENTITY:ATTRIBUTE, as in person:name,born")
            }
            identifiers[String(parts[0])] = try NameList.names(in: String(parts[1]), of: "--identifier")
        }
        return identifiers
    }
}
