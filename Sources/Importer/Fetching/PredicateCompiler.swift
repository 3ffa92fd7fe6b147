import ImportModel

/// Turns a predicate into SQL for an entity, after looking whether it makes sense there.
///
/// Values are arguments, in the form in which the attribute they are compared with is stored; only the names of columns are
/// in the SQL, quoted.
struct PredicateCompiler {
    private let entity: FetchedEntity
    private let text: String
    private var arguments: [BoundValue] = []
    private var reached: Set<ExactText> = []

    /// - Returns: the condition, and the tables beside the entity's that it depends on, in lower case.
    /// - Throws: `RecordPredicateError` where it makes no sense.
    static func compile(
        _ node: PredicateNode,
        text: String,
        for entity: FetchedEntity
    ) throws -> (condition: SQLText, reached: Set<ExactText>) {
        var compiler = PredicateCompiler(entity: entity, text: text)
        let sql = try compiler.sql(node)
        return (SQLText(sql, compiler.arguments), compiler.reached)
    }

    private init(entity: FetchedEntity, text: String) {
        self.entity = entity
        self.text = text
    }

    private mutating func sql(_ node: PredicateNode) throws -> String {
        switch node {
        case .all(let nodes): return Self.joined(try nodes.map { try sql($0) }[...], by: "AND")
        case .any(let nodes): return Self.joined(try nodes.map { try sql($0) }[...], by: "OR")
        case .not(let node): return "NOT " + (try sql(node))
        case .isNull(let operand):
            guard let attribute = try attribute(operand) else {
                throw error(
                    "expected an attribute before is",
                    at: operand.place,
                    advice: "Write it as in note is null."
                )
            }
            return "(\(column(attribute)) IS NULL)"
        case .truth(let operand):
            guard let attribute = try attribute(operand) else { return "0" }
            guard attribute.type == .boolean else {
                throw error(
                    "\(attribute.name) is \(attribute.type.phrase), so it needs a comparison",
                    at: operand.place,
                    advice: "Only booleans stand alone; write what it is compared with, or is not null."
                )
            }
            return "(\(column(attribute)) = 1)"
        case .comparison(let left, let comparison, let right):
            return try sql(left, comparison, right)
        case .between(let operand, let low, let high):
            return "(\(try sql(operand, .greaterOrEqual, low)) AND \(try sql(operand, .lessOrEqual, high)))"
        case .membership(let operand, let operands):
            guard let attribute = try attribute(operand) else {
                throw error(
                    "expected an attribute before in",
                    at: operand.place,
                    advice: "Write it as in age in (30, 40)."
                )
            }
            try checkThatComparing(attribute, .equal, isSense: operand.place)
            let values = try operands.compactMap { try member($0, of: attribute) }
            guard !values.isEmpty || operands.isEmpty else { return never(attribute) }
            return "(\(column(attribute)) IN (\(values.joined(separator: ", "))))"
        case .text(let operand, let test, let pattern):
            return try sql(operand, test, pattern)
        }
    }

    /// SQLite takes trees of 1,000 levels (`SQLITE_MAX_EXPR_DEPTH`): a long list makes one of few levels.
    private static func joined(_ terms: ArraySlice<String>, by word: String) -> String {
        guard terms.count > 1 else { return terms.first ?? "1" }
        let middle = terms.startIndex + terms.count / 2
        return "(\(joined(terms[..<middle], by: word)) \(word) \(joined(terms[middle...], by: word)))"
    }

    // MARK: Comparisons

    private mutating func sql(
        _ left: PredicateNode.Operand,
        _ comparison: PredicateNode.Comparison,
        _ right: PredicateNode.Operand
    ) throws -> String {
        let (one, other) = (try attribute(left), try attribute(right))
        guard let attribute = one ?? other else {
            throw error(
                "none of the two is an attribute",
                at: left.place.lowerBound..<right.place.upperBound,
                advice: "Attributes are written bare or in double quotes, texts in single quotes."
            )
        }
        if let one, let other { return try sql(one, comparison, other, at: right.place) }
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
            return "(\(column(attribute)) IS \(comparison == .equal ? "" : "NOT ")NULL)"
        }
        try checkThatComparing(attribute, comparison, isSense: one == nil ? right.place : left.place)
        if case .literal(let number) = literal.content,
            let place = PredicateValue.integerPlace(number, for: attribute.attribute)
        {
            return sql(attribute, comparison, place)
        }
        let value = bind(try value(of: literal, for: attribute, comparison))
        return "(\(column(attribute))\(collation(attribute, comparison)) \(comparison.rawValue) \(value))"
    }

    /// An integer attribute and a number, which may have a fraction or more than 64 bits.
    private mutating func sql(
        _ attribute: AttributeTerm,
        _ comparison: PredicateNode.Comparison,
        _ place: NumberForm.IntegerPlace
    ) -> String {
        let column = column(attribute)
        let isLess = comparison == .less || comparison == .lessOrEqual
        switch (place, comparison.isEquality) {
        case (.at(let number), _): return "(\(column) \(comparison.rawValue) \(bind(.integer(number))))"
        case (_, true): return comparison == .equal ? never(attribute) : always(attribute)
        case (.belowAll, false): return isLess ? never(attribute) : always(attribute)
        case (.aboveAll, false): return isLess ? always(attribute) : never(attribute)
        case (.after(let number), false): return "(\(column) \(isLess ? "<=" : ">") \(bind(.integer(number))))"
        }
    }

    /// What is true of every value, and neither true nor false of a null.
    private func always(_ attribute: AttributeTerm) -> String {
        "(\(column(attribute)) = \(column(attribute)))"
    }

    /// What is false of every value, and neither true nor false of a null; an index answers it at once.
    private func never(_ attribute: AttributeTerm) -> String {
        "(\(column(attribute)) < 0 AND \(column(attribute)) > 0)"
    }

    /// A value that an attribute may be equal to; nil where no integer is.
    private mutating func member(
        _ operand: PredicateNode.Operand,
        of attribute: AttributeTerm
    ) throws -> String? {
        if case .literal(let number) = operand.content,
            let place = PredicateValue.integerPlace(number, for: attribute.attribute)
        {
            guard case .at(let number) = place else { return nil }
            return bind(.integer(number))
        }
        return bind(try value(of: operand, for: attribute, .equal))
    }

    /// Two attributes of one record.
    private func sql(
        _ one: AttributeTerm,
        _ comparison: PredicateNode.Comparison,
        _ other: AttributeTerm,
        at place: Range<Int>
    ) throws -> String {
        try checkThatComparing(one, comparison, isSense: place)
        guard one.type.family == other.type.family, one.storage == other.storage else {
            throw error(
                "\(one.name) is \(one.phrase), but \(other.name) is \(other.phrase)",
                at: place,
                advice: "Compare attributes of the same type; a text goes in single quotes."
            )
        }
        return "(\(column(one))\(collation(one, comparison)) \(comparison.rawValue) \(column(other)))"
    }

    private func collation(_ attribute: AttributeTerm, _ comparison: PredicateNode.Comparison) -> String {
        attribute.type == .decimal && !comparison.isEquality ? " COLLATE \(DecimalText.collation.name)" : ""
    }

    private func checkThatComparing(
        _ attribute: AttributeTerm,
        _ comparison: PredicateNode.Comparison,
        isSense place: Range<Int>
    ) throws {
        switch attribute.type {
        case .json:
            throw error(
                "\(attribute.name) is JSON, which cannot be compared",
                at: place,
                advice: "Use contains or like on its text, or is null."
            )
        case .boolean where !comparison.isEquality:
            throw error(
                "\(attribute.name) is a boolean: it is true or false, not less or greater",
                at: place,
                advice: "Write = true or = false."
            )
        default: break
        }
    }

    // MARK: Texts

    private mutating func sql(
        _ operand: PredicateNode.Operand,
        _ test: PredicateNode.TextTest,
        _ pattern: PredicateNode.Operand
    ) throws -> String {
        guard let attribute = try attribute(operand) else {
            throw error(
                "expected an attribute before \(test.rawValue)",
                at: operand.place,
                advice: "Write it as in name \(test.rawValue) 'Ada'."
            )
        }
        guard [.string, .uri, .uuid, .json].contains(attribute.type) else {
            throw error(
                "\(attribute.name) is \(attribute.type.phrase), not a text",
                at: operand.place,
                advice: "Compare it with =, < or >, or write between."
            )
        }
        guard case .literal(.string(let text)) = pattern.content else {
            throw error(
                "expected a text in single quotes after \(test.rawValue)",
                at: pattern.place,
                advice: "Write it as in name \(test.rawValue) 'Ada'."
            )
        }
        let column = column(attribute)
        switch test {
        case .like:
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
                    "like accepts no pattern with a NUL",
                    at: pattern.place,
                    advice: "Use contains, begins with or ends with."
                )
            }
            return "(\(column) LIKE \(bind(.text(text))))"
        case .contains:
            return "(instr(\(column), \(bind(.text(text)))) > 0)"
        case .beginsWith:
            // A range, for which an index can be used.
            let low = "\(column) >= \(bind(.text(text)))"
            guard let end = Self.end(ofPrefix: text) else { return "(\(low))" }
            return "(\(low) AND \(column) < \(bind(.text(end))))"
        case .endsWith:
            guard !text.isEmpty else { return always(attribute) }
            // As bytes: substr would count characters only up to a NUL. Of no bytes it makes a null.
            let tail = bind(.integer(-Int64(text.utf8.count)))
            let end = "substr(CAST(\(column) AS BLOB), \(tail)) = \(bind(.blob(Array(text.utf8))))"
            return "(CASE WHEN \(column) = '' THEN 0 ELSE \(end) END)"
        }
    }

    /// The first text after all those with this prefix, as SQLite compares bytes; nil where there is none.
    private static func end(ofPrefix prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // The surrogates are no scalars.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            text.append(scalar)
            return String(text)
        }
        return nil
    }

    // MARK: Operands

    /// The attribute that an operand names; nil for a literal.
    private mutating func attribute(_ operand: PredicateNode.Operand) throws -> AttributeTerm? {
        guard case .attribute(let name, let isQuoted) = operand.content else { return nil }
        do throws(UnknownName) {
            let term = try entity.term(named: name)
            reached.formUnion(term.reached)
            return term
        } catch {
            // Where nothing is quoted, the text has the name as it is.
            let known = isQuoted ? 0 : min(error.knownBytes, operand.place.count)
            throw self.error(
                error.message,
                at: operand.place.lowerBound + known..<operand.place.upperBound,
                advice: (isQuoted && !error.hasSuggestion ? "Texts are in single quotes. " : "") + error.advice
            )
        }
    }

    private func value(
        of operand: PredicateNode.Operand,
        for attribute: AttributeTerm,
        _ comparison: PredicateNode.Comparison
    ) throws -> Record.Value {
        guard case .literal(let literal) = operand.content else {
            throw error(
                "expected a value, not an attribute",
                at: operand.place,
                advice: "Texts are in single quotes."
            )
        }
        if literal == .null {
            throw error(
                "null is not among values: write is null",
                at: operand.place,
                advice: "Write it as in age in (30, 40) or age is null."
            )
        }
        do throws(PredicateValue.Misfit) {
            return try PredicateValue.stored(literal, for: attribute.attribute)
        } catch {
            throw RecordPredicateError(error.message, in: text, at: operand.place, advice: error.advice)
        }
    }

    private func column(_ attribute: AttributeTerm) -> String { attribute.sql }

    /// Adds an argument, and gives back what stands for it.
    private mutating func bind(_ value: Record.Value) -> String {
        arguments.append(BoundValue(value))
        return "?"
    }

    private func error(_ message: String, at place: Range<Int>, advice: String) -> RecordPredicateError {
        RecordPredicateError(message, in: text, at: place, advice: advice)
    }
}

extension EntityDescription {
    /// The attribute with this name; `rowid` is the row's id, where no attribute has that name.
    package func attribute(named name: String) -> AttributeDescription? {
        if let attribute = attributes.first(where: { ExactText($0.name) == ExactText(name) }) { return attribute }
        return name == Self.rowIDName ? AttributeDescription(name: name, type: .integer64) : nil
    }

    /// What row ids are asked for by.
    static let rowIDName = "rowid"
}
