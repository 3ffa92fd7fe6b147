/// Names of properties as keys of JSON.
extension CoreDataModel.KeyStyle {
    /// The keys under which the value of a property may be, the one that counts first.
    func keys(for name: String, isToOne: Bool = false, isToMany: Bool = false) -> [String] {
        let snake = Self.words(of: name).joined(separator: "_")
        switch self {
        case .exact: return [name]
        case .snake: return [snake]
        case .any: return Self.distinct([name, snake, Self.camelCase(name)])
        case .sync:
            var special: [String] = []
            if isToMany { special = ["\(snake)_ids"] }
            if isToOne { special = ["\(snake)_id"] }
            if !isToOne, !isToMany, Self.isSyncIdentifier(name) { special = ["id"] }
            return Self.distinct(special + Self.any.keys(for: name))
        }
    }

    /// True if Sync takes an attribute of this name for the identifier.
    static func isSyncIdentifier(_ name: String) -> Bool { ["id", "remoteID"].contains(name) }

    /// Each name once, where it comes first.
    static func distinct(_ names: [String]) -> [String] {
        var found: [String] = []
        for name in names where !found.contains(where: name.hasSameBytes) { found.append(name) }
        return found
    }

    private static func camelCase(_ name: String) -> String {
        let words = words(of: name)
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The words of a name in lower case: `numericISO3166Code` has `numeric`, `iso3166` and `code`.
    private static func words(of name: String) -> [String] {
        let letters = Array(name)
        var words: [String] = []
        var word = ""
        for (index, letter) in letters.enumerated() {
            if letter == "_" || letter == "-" {
                if !word.isEmpty { words.append(word) }
                word = ""
                continue
            }
            let isAfterSmall = index > 0 && (letters[index - 1].isLowercase || letters[index - 1].isNumber)
            let isBeforeSmall = index + 1 < letters.count && letters[index + 1].isLowercase
            let isAfterCapital = index > 0 && letters[index - 1].isUppercase
            if letter.isUppercase, !word.isEmpty, isAfterSmall || isAfterCapital && isBeforeSmall {
                words.append(word)
                word = ""
            }
            word += letter.lowercased()
        }
        if !word.isEmpty { words.append(word) }
        return words.isEmpty ? [name] : words
    }
}
