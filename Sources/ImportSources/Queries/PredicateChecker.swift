import ImportModel

/// Looks whether a predicate makes sense for an entity, and takes its names and values for what they are there.
struct PredicateChecker<Term: PredicateTerm> {
    let text: String
    /// What a name means.
    let term: (String) throws(UnknownAttribute) -> Term

    /// - Throws: `RecordPredicateError` where it makes no sense.
    func check(_ node: PredicateNode) throws -> ResolvedPredicate<Term> {
        switch node {
        case .all(let nodes): return .all(try nodes.map { try check($0) })
        case .any(let nodes): return .any(try nodes.map { try check($0) })
        case .not(let node): return .not(try check(node))
        case .isNull(let operand):
            guard let term = try term(operand) else {
                throw error(
                    "expected an attribute before is",
                    at: operand.place,
                    advice: "Write it as in note is null."
                )
            }
            return .isNull(term)
        case .truth(let operand):
            guard let term = try term(operand) else { return .any([]) }
            guard term.attribute.type == .boolean else {
                throw error(
                    "\(term.attribute.name) is \(term.attribute.type.phrase), so it needs a comparison",
                    at: operand.place,
                    advice: "Only a boolean can be a condition by itself; compare the attribute, or write is not null."
                )
            }
            return .isTrue(term)
        case .comparison(let left, let comparison, let right):
            return try check(left, comparison, right)
        case .between(let operand, let low, let high):
            return .all([try check(operand, .greaterOrEqual, low), try check(operand, .lessOrEqual, high)])
        case .membership(let operand, let operands):
            guard let term = try term(operand) else {
                throw error(
                    "expected an attribute before in",
                    at: operand.place,
                    advice: "Write it as in age in (30, 40)."
                )
            }
            try checkThatComparing(term, .equal, isSense: operand.place)
            let days = try operands.compactMap { try day($0, of: term) }
            if !days.isEmpty, days.count == operands.count {
                return .any(days.map { Self.comparison(term, .equal, $0) })
            }
            let values = try operands.compactMap { try member($0, of: term) }
            guard !values.isEmpty || operands.isEmpty else { return .never(term) }
            return .membership(term, values)
        case .text(let operand, let test, let pattern):
            return try check(operand, test, pattern)
        }
    }

    // MARK: Comparisons

    private func check(
        _ left: PredicateNode.Operand,
        _ comparison: PredicateNode.Comparison,
        _ right: PredicateNode.Operand
    ) throws -> ResolvedPredicate<Term> {
        let (one, other) = (try term(left), try term(right, isCompared: true))
        guard let term = one ?? other else {
            throw error(
                "neither side is an attribute",
                at: left.place.lowerBound..<right.place.upperBound,
                advice: "Attributes are written bare or in double quotes, texts in single quotes."
            )
        }
        if let one, let other { return try check(one, comparison, other, at: right.place) }
        let literal = one == nil ? left : right
        let comparison = one == nil ? comparison.flipped : comparison
        if literal.isNull {
            guard comparison.isEquality else {
                throw error(
                    "null is neither less nor greater than anything",
                    at: literal.place,
                    advice: "Write is null or is not null."
                )
            }
            return comparison == .equal ? .isNull(term) : .not(.isNull(term))
        }
        try checkThatComparing(term, comparison, isSense: one == nil ? right.place : left.place)
        if case .literal(let number) = literal.content,
            let place = PredicateValue.integerPlace(number, for: term.attribute)
        {
            return check(term, comparison, place)
        }
        if let day = try day(literal, of: term) { return Self.comparison(term, comparison, day) }
        return .comparison(term, comparison, try value(of: literal, for: term))
    }

    /// A day alone is the whole of it.
    private static func comparison(
        _ term: Term,
        _ comparison: PredicateNode.Comparison,
        _ day: (first: Record.Value, next: Record.Value)
    ) -> ResolvedPredicate<Term> {
        switch comparison {
        case .equal: .all([.comparison(term, .greaterOrEqual, day.first), .comparison(term, .less, day.next)])
        case .different: .not(Self.comparison(term, .equal, day))
        case .less, .greaterOrEqual: .comparison(term, comparison, day.first)
        case .lessOrEqual: .comparison(term, .less, day.next)
        case .greater: .comparison(term, .greaterOrEqual, day.next)
        }
    }

    private func day(
        _ operand: PredicateNode.Operand,
        of term: Term
    ) throws -> (first: Record.Value, next: Record.Value)? {
        guard case .literal(let literal) = operand.content else { return nil }
        return try fitting(operand) { () throws(PredicateValue.Misfit) in
            try PredicateValue.day(literal, for: term.attribute)
        }
    }

    /// An integer attribute and a number, which may have a fraction or more than 64 bits.
    private func check(
        _ term: Term,
        _ comparison: PredicateNode.Comparison,
        _ place: JSONNumber.Int64Position
    ) -> ResolvedPredicate<Term> {
        let isLess = comparison == .less || comparison == .lessOrEqual
        switch (place, comparison.isEquality) {
        case (.at(let number), _): return .comparison(term, comparison, .integer(number))
        case (_, true): return comparison == .equal ? .never(term) : .always(term)
        case (.belowAll, false): return isLess ? .never(term) : .always(term)
        case (.aboveAll, false): return isLess ? .always(term) : .never(term)
        case (.after(let number), false): return .comparison(term, isLess ? .lessOrEqual : .greater, .integer(number))
        }
    }

    /// A value that an attribute may be equal to; nil where no integer is.
    private func member(_ operand: PredicateNode.Operand, of term: Term) throws -> Record.Value? {
        if case .literal(let number) = operand.content,
            let place = PredicateValue.integerPlace(number, for: term.attribute)
        {
            guard case .at(let number) = place else { return nil }
            return .integer(number)
        }
        return try value(of: operand, for: term)
    }

    /// Two attributes of one record.
    private func check(
        _ one: Term,
        _ comparison: PredicateNode.Comparison,
        _ other: Term,
        at place: Range<Int>
    ) throws -> ResolvedPredicate<Term> {
        try checkThatComparing(one, comparison, isSense: place)
        let (first, second) = (one.attribute, other.attribute)
        let isAlike = first.type.family == second.type.family && first.ownForm == second.ownForm
        guard isAlike || first.isUntyped || second.isUntyped else {
            throw error(
                "\(first.name) is \(first.phrase), but \(second.name) is \(second.phrase)",
                at: place,
                advice: "Compare attributes of the same type; a text goes in single quotes."
            )
        }
        return .terms(one, comparison, other)
    }

    private func checkThatComparing(
        _ term: Term,
        _ comparison: PredicateNode.Comparison,
        isSense place: Range<Int>
    ) throws {
        switch term.attribute.type {
        case .json:
            throw error(
                "\(term.attribute.name) is JSON, which cannot be compared",
                at: place,
                advice: "Use contains or like on its text, or is null."
            )
        case .boolean where !comparison.isEquality:
            throw error(
                "\(term.attribute.name) is a boolean: it is true or false, not less or greater",
                at: place,
                advice: "Write = true or = false."
            )
        default: break
        }
    }

    // MARK: Texts

    private func check(
        _ operand: PredicateNode.Operand,
        _ test: PredicateNode.TextTest,
        _ pattern: PredicateNode.Operand
    ) throws -> ResolvedPredicate<Term> {
        guard let term = try term(operand) else {
            throw error(
                "expected an attribute before \(test.rawValue)",
                at: operand.place,
                advice: "Write it as in name \(test.rawValue) 'Ada'."
            )
        }
        let isText = [.string, .uri, .uuid, .json].contains(term.attribute.type) && term.attribute.ownForm == nil
        guard isText || term.attribute.isUntyped else {
            throw error(
                "\(term.attribute.name) is \(term.attribute.phrase), not a text",
                at: operand.place,
                advice: term.attribute.type == .date
                    ? "Write \(term.attribute.name) = '2024-05-04' for a whole day, or between."
                    : "Compare it with =, < or >, or write between."
            )
        }
        guard case .literal(.string(let text)) = pattern.content else {
            throw error(
                "expected a text in single quotes after \(test.rawValue)",
                at: pattern.place,
                advice: "Write it as in name \(test.rawValue) 'Ada'."
            )
        }
        guard test == .like else { return .text(term, test, text) }
        // SQLite takes no more (SQLITE_MAX_LIKE_PATTERN_LENGTH).
        guard text.utf8.count <= 50_000 else {
            throw error(
                "the pattern is too long",
                at: pattern.place,
                advice: "Use contains, or write a shorter one."
            )
        }
        // For SQLite a pattern ends there, and so it would be another one.
        guard !text.utf8.contains(0) else {
            throw error(
                "a pattern of like cannot have a NUL character",
                at: pattern.place,
                advice: "Use contains, begins with or ends with."
            )
        }
        return .text(term, test, text)
    }

    // MARK: Operands

    /// The attribute that an operand names; nil for a literal.
    ///
    /// - Parameter isCompared: whether it may be a text without its quotes.
    private func term(_ operand: PredicateNode.Operand, isCompared: Bool = false) throws -> Term? {
        guard case .attribute(let name, let isQuoted) = operand.content else { return nil }
        do throws(UnknownAttribute) {
            return try term(name)
        } catch {
            // Where nothing is quoted, the text has the name as it is.
            let known = isQuoted ? 0 : min(error.knownBytes, operand.place.count)
            throw self.error(
                error.message,
                at: operand.place.lowerBound + known..<operand.place.upperBound,
                advice: ((isQuoted || isCompared) && !error.hasSuggestion ? "Texts are in single quotes. " : "")
                    + error.advice
            )
        }
    }

    private func value(of operand: PredicateNode.Operand, for term: Term) throws -> Record.Value {
        guard case .literal(let literal) = operand.content else {
            throw error(
                "expected a value, not an attribute",
                at: operand.place,
                advice: "Texts are in single quotes."
            )
        }
        if literal == .null {
            throw error(
                "the list of in cannot have null",
                at: operand.place,
                advice: "Write it as in age in (30, 40) or age is null."
            )
        }
        return try fitting(operand) { () throws(PredicateValue.Misfit) in
            try PredicateValue.stored(literal, for: term.attribute)
        }
    }

    private func fitting<Value>(
        _ operand: PredicateNode.Operand,
        _ value: () throws(PredicateValue.Misfit) -> Value
    ) throws -> Value {
        do throws(PredicateValue.Misfit) {
            return try value()
        } catch {
            throw RecordPredicateError(error.message, in: text, at: operand.place, advice: error.advice)
        }
    }

    private func error(_ message: String, at place: Range<Int>, advice: String) -> RecordPredicateError {
        RecordPredicateError(message, in: text, at: place, advice: advice)
    }
}
