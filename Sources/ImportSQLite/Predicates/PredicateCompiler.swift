import ImportEngine
import ImportModel
import ImportSources

/// Turns a predicate into SQL for an entity.
///
/// Values are arguments; only the names of columns are in the SQL, quoted.
struct PredicateCompiler {
    private var arguments: [RawArgument] = []
    private var reached: Set<BytewiseString> = []

    /// - Returns: the condition, and the tables beside the entity's that it depends on, in lower case.
    static func compile(
        _ predicate: ResolvedPredicate<AttributeTerm>
    ) -> (condition: SQLFragment, reached: Set<BytewiseString>) {
        var compiler = PredicateCompiler()
        let sql = compiler.sql(predicate)
        return (SQLFragment(sql, compiler.arguments), compiler.reached)
    }

    private mutating func sql(_ predicate: ResolvedPredicate<AttributeTerm>) -> String {
        switch predicate {
        case .all(let parts): return parts.map { sql($0) }.joinedConditions(by: "AND", empty: "1")
        case .any(let parts): return parts.map { sql($0) }.joinedConditions(by: "OR", empty: "0")
        case .not(let part): return "NOT " + sql(part)
        case .isNull(let term): return "(\(column(term)) IS NULL)"
        case .isTrue(let term): return "(\(column(term)) = 1)"
        case .always(let term): return "(\(column(term)) = \(column(term)))"
        // An index answers it at once.
        case .never(let term): return "(\(column(term)) < 0 AND \(column(term)) > 0)"
        case .comparison(let term, let comparison, let value):
            return "(\(column(term))\(collation(term, comparison)) \(comparison.rawValue) \(bind(value)))"
        case .terms(let one, let comparison, let other):
            return "(\(column(one))\(collation(one, comparison)) \(comparison.rawValue) \(column(other)))"
        case .membership(let term, let values):
            return "(\(column(term)) IN (\(values.map { bind($0) }.joined(separator: ", "))))"
        case .text(let term, let test, let text): return sql(column(term), test, text)
        }
    }

    private func collation(_ term: AttributeTerm, _ comparison: PredicateNode.Comparison) -> String {
        term.attribute.declaredType == "TEXT" && term.type == .decimal && !comparison.isEquality
            ? " COLLATE \(DecimalText.collation.name)" : ""
    }

    private mutating func sql(_ column: String, _ test: PredicateNode.TextTest, _ text: String) -> String {
        switch test {
        case .like: return "(\(column) LIKE \(bind(.text(text))))"
        case .contains: return "(instr(\(column), \(bind(.text(text)))) > 0)"
        case .beginsWith:
            // A range, for which an index can be used.
            let low = "\(column) >= \(bind(.text(text)))"
            guard let end = Self.end(ofPrefix: text) else { return "(\(low))" }
            return "(\(low) AND \(column) < \(bind(.text(end))))"
        case .endsWith:
            guard !text.isEmpty else { return "(\(column) = \(column))" }
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

    private mutating func column(_ term: AttributeTerm) -> String {
        reached.formUnion(term.reached)
        return term.sql
    }

    /// Adds an argument, and gives back what stands for it.
    private mutating func bind(_ value: Record.Value) -> String {
        arguments.append(RawArgument(value))
        return "?"
    }
}

extension EntityDescription {
    /// The attribute with this name; `rowid` is the row's id, where no attribute has that name.
    package func attribute(named name: String) -> AttributeDescription? {
        if let attribute = attributes.first(where: { BytewiseString($0.name) == BytewiseString(name) }) {
            return attribute
        }
        return name == Self.rowIDName ? AttributeDescription(name: name, type: .integer64) : nil
    }

    /// What row ids are asked for by.
    package static let rowIDName = "rowid"
}
