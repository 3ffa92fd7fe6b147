import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// The order of an entity's records, up to where no two are the same, in SQL that an index serves where there is one.
///
/// Records that are equal in all that is sorted by are ordered by row id, in the direction of the last attribute: so an index is read
/// from one end to the other.
struct RecordOrder: Sendable {
    /// One thing to sort by.
    struct Term: Sendable {
        /// The column's name, quoted, or the value of another object.
        let column: String
        /// The column with its collation.
        let collated: String
        let ascending: Bool
        /// What all values but null are, so that an index finds them.
        let notNull: String
    }

    /// What decides before the row id does.
    let terms: [Term]
    /// True if small row ids come first.
    let isRowIDAscending: Bool
    /// True if new rows have larger row ids than all others: where no attribute is the row id.
    let onlyAppends: Bool
    /// The tables beside the entity's that it depends on, in lower case.
    let reached: Set<BytewiseString>

    /// - Throws: `ImportError` with `.usage` when the entity has no such attribute.
    init(_ sort: [RecordSort], of entity: FetchedEntity, _ database: Database) throws {
        let description = entity.description
        let table = try StoredTable(description.table, database)
        try table.checkReadable()
        let rowIDColumn = table.rowIDColumn.map(ExistingEntity.folded)
        var reached: Set<BytewiseString> = []
        var terms: [Term] = []
        var isRowIDAscending: Bool?
        for sort in sort {
            let attribute: AttributeTerm
            do throws(UnknownAttribute) {
                attribute = try entity.term(named: sort.attribute)
            } catch {
                throw ImportError(error)
            }
            // Nothing comes after what no two records share.
            guard isRowIDAscending == nil else { continue }
            let isAttribute =
                !attribute.isOwn
                || description.attributes.contains { BytewiseString($0.name) == BytewiseString(sort.attribute) }
            let column = BytewiseString(attribute.attribute.column.asciiLowercased)
            if !isAttribute || attribute.isOwn && column == rowIDColumn {
                isRowIDAscending = sort.ascending
            } else {
                terms.append(Term(attribute, sort))
                reached.formUnion(attribute.reached)
            }
        }
        self.reached = reached
        self.terms = terms
        self.isRowIDAscending = isRowIDAscending ?? sort.last?.ascending ?? true
        onlyAppends = rowIDColumn == nil
    }

    /// True if the row id alone decides.
    var isByRowID: Bool { terms.isEmpty }

    /// What is after `ORDER BY`.
    func sql(backwards: Bool = false) -> String {
        let terms = terms.map { "\($0.collated) \($0.ascending != backwards ? "ASC" : "DESC")" }
        return (terms + ["rowid \(isRowIDAscending != backwards ? "ASC" : "DESC")"]).joined(separator: ", ")
    }

    /// Conditions for what follows a key, or before it: the records of the first one are the nearest, and so on.
    ///
    /// There are several because SQLite finds each by one search in an index on the order
    /// (<https://www.sqlite.org/rowvalue.html#scrolling_window_queries>; nulls and mixed directions are why no row value does).
    ///
    /// - Parameters:
    ///   - backwards: whether those before it are meant.
    ///   - including: whether the key's own record is among them.
    func ranges(from key: RecordKey, backwards: Bool, including: Bool) -> [SQLFragment] {
        let comparison = (isRowIDAscending != backwards ? ">" : "<") + (including ? "=" : "")
        let same = zip(terms, key.values).map { $0.equal(to: $1) }
        var ranges = [SQLFragment.all(same + [SQLFragment("rowid \(comparison) ?", [.integer(key.rowID)])])]
        for place in terms.indices.reversed() {
            for beyond in terms[place].beyond(key.values[place], backwards: backwards) {
                ranges.append(SQLFragment.all(same[..<place] + [beyond]))
            }
        }
        return ranges
    }

    /// Conditions for the records with this value of the first term, and for those that follow them; the whole where there is
    /// no term.
    func ranges(from value: RawArgument) -> [SQLFragment] {
        guard let first = terms.first else { return [SQLFragment("1")] }
        return [first.equal(to: value)] + first.beyond(value, backwards: false)
    }
}

extension RecordOrder.Term {
    fileprivate init(_ attribute: AttributeTerm, _ sort: RecordSort) {
        let isText = attribute.attribute.declaredType == "TEXT"
        let isDecimal = attribute.type == .decimal
        column = attribute.sql
        let collation = isDecimal ? DecimalText.collation.name : sort.collation.rawValue.uppercased()
        collated = column + (isText ? " COLLATE \(collation)" : "")
        ascending = sort.ascending
        // With an affinity, SQLite would make a text of the number.
        notNull = isDecimal ? "\(column) IS NOT NULL" : "\(collated) >= \(isText ? "''" : "-9e999")"
    }

    fileprivate func equal(to value: RawArgument) -> SQLFragment {
        value == .null ? SQLFragment("\(column) IS NULL") : SQLFragment("\(collated) = ?", [value])
    }

    /// What comes after a value: nulls come before all values, so after all of them where large ones come first.
    fileprivate func beyond(_ value: RawArgument, backwards: Bool) -> [SQLFragment] {
        switch (ascending != backwards, value) {
        case (true, .null): [SQLFragment(notNull)]
        case (true, _): [SQLFragment("\(collated) > ?", [value])]
        case (false, .null): []
        case (false, _): [SQLFragment("\(collated) < ?", [value]), SQLFragment("\(column) IS NULL")]
        }
    }
}

extension ImportError {
    /// An attribute that an entity does not have.
    package init(noAttribute name: String, in entity: EntityDescription) {
        let names = entity.attributes.map(\.name)
        self.init(
            .unknownAttribute,
            "\(entity.name) has no attribute \(name)\(NameSuggestion.question(for: name, among: names))",
            advice: "It has: \(names.joined(separator: ", ").printable)."
        )
    }
}
