import ImportModel

/// What a predicate compares: an attribute, or what stands for one.
package protocol PredicateTerm: Sendable {
    var attribute: AttributeDescription { get }
}

/// A predicate that makes sense for an entity: its names are resolved, and its values have the form in which SQLite stores those
/// of the attributes that they are compared with.
///
/// Of a null nothing but `isNull` is true or false.
package indirect enum ResolvedPredicate<Term: PredicateTerm>: Sendable {
    case all([ResolvedPredicate])
    case any([ResolvedPredicate])
    case not(ResolvedPredicate)
    case isNull(Term)
    /// A boolean.
    case isTrue(Term)
    /// True of every value.
    case always(Term)
    /// False of every value.
    case never(Term)
    case comparison(Term, PredicateNode.Comparison, Record.Value)
    /// Two of the same family of types, stored in the same form.
    case terms(Term, PredicateNode.Comparison, Term)
    case membership(Term, [Record.Value])
    case text(Term, PredicateNode.TextTest, String)
}

extension RecordPredicate {
    /// The predicate with its names resolved.
    ///
    /// - Parameter term: what a name means.
    /// - Throws: `RecordPredicateError` where a name means nothing, or is compared with something of another type.
    package func checked<Term: PredicateTerm>(
        _ term: @escaping (String) throws(UnknownAttribute) -> Term
    ) throws -> ResolvedPredicate<Term> {
        try PredicateChecker(text: text, term: term).check(node)
    }

    /// What is wrong with the whole of it.
    package func error(_ message: String, advice: String) -> RecordPredicateError {
        RecordPredicateError(message, in: text, at: 0..<text.utf8.count, advice: advice)
    }
}

extension Sequence<String> {
    /// Conditions joined by a word, as a tree of few levels: databases do not take one of many.
    package func joinedConditions(by word: String, empty: String) -> String {
        let terms = Array(self)
        func joined(_ terms: ArraySlice<String>) -> String {
            guard terms.count > 1 else { return terms.first ?? empty }
            let middle = terms.startIndex + terms.count / 2
            return "(\(joined(terms[..<middle])) \(word) \(joined(terms[middle...])))"
        }
        return joined(terms[...])
    }
}
