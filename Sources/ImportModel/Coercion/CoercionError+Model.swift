extension CoercionError {
    /// What is wrong with a value that a model file gives.
    var modelMessage: String {
        switch code {
        case .wrongForm where !expected.contains(" "): "this \(found) is no \(expected)"
        case .outOfRange where !expected.contains(" "): "out of the range of \(expected)"
        case .belowMinimum, .aboveMaximum: "must be \(expected)"
        case .tooShort, .tooLong: "must have \(expected)"
        case .unknownFlag: path.isEmpty ? "must not have other bits than the flags" : "there is no such flag"
        case .unexpectedNull:
            (found == "null" ? "must not be null" : "means null") + ", but the attribute is not optional"
        case .patternMismatch, .notAllowed: "must be \(expected)"
        default: "must be \(expected.withArticle), not \(found.withArticle)"
        }
    }
}

extension String {
    /// A name of a kind or type with its article; other texts as they are.
    fileprivate var withArticle: String {
        if contains(","), contains(" or ") { return self }
        let isVowel = first.map { "aeio".contains($0) } ?? false
        return self == "null" ? self : (isVowel ? "an " : "a ") + self
    }
}
