import ImportModel

/// What settling needs to know of an entity whose records are staged first and made objects by their identifier later.
struct StagedEntity: Sendable {
    /// A column of the entity's table, and of its staging table.
    struct Column: Sendable {
        /// Quoted, as `PQescapeIdentifier` does it.
        var name: String
        /// In SQL, with its collation where that is not the type's; that of the table where the table was there before.
        var type: String
        /// True if it is part of the identifier; then no staged row has NULL in it.
        var isIdentifier = false
        /// True if an object that is inserted without a value gets a made one, which never takes the place of another.
        var isGenerated = false
        /// True if it is compared as text: `json` has no equality
        /// (<https://www.postgresql.org/docs/current/datatype-json.html>).
        var isJSON = false
        /// True if its collation takes texts of different bytes for equal
        /// (<https://www.postgresql.org/docs/current/collation.html#COLLATION-NONDETERMINISTIC>): identifiers are told apart
        /// by it, but of values the bytes count.
        var isLoose = false
        /// True if records set it in new objects only (`"owner": "local"`).
        var isLocal = false
        /// True if lists set it, too, so that what a row changes of it is found with these.
        var isListed = false
    }

    /// How the objects of a table say of which entity they are, where it has those of several.
    struct Subentities: Sendable {
        /// The index of the column with the entity's name.
        var column: Int
        /// The entities by name, with their numbers.
        var numbers: [(name: String, number: Int)]

        /// The number of the entity that a value of the column names.
        func number(_ value: String) -> String {
            let cases = numbers.map { "WHEN '\($0.name.replacing("'", with: "''"))' THEN \($0.number)" }
            return "CASE \(value) \(cases.joined(separator: " ")) END"
        }
    }

    /// The table of the objects: quoted, with its schema.
    var table: String
    /// The staging table to be: quoted, with its schema.
    var stage: String
    /// In the order in which rows are staged; an identifier's in the order of its index.
    var columns: [Column]
    /// What a record does whose object is there already.
    var policy: ConflictPolicy
    /// True if the table had no rows when the job began, so that it has none but the job's and no index yet.
    var tableWasEmpty: Bool
    /// True if objects may be nested in records, which are counted by themselves: rows whose `_child` is not 0.
    var countsNested = false
    /// Where rows are noted that have said nothing new, as lists of their objects may: the table, in double quotes, and the
    /// entity's number in it; nil where nobody asks.
    var unchanged: (table: String, number: Int)?
    /// How rows say of which entity they are, so that these are counted by themselves; nil where all are of one.
    var subentities: Subentities?

    /// The number of the entity that a row is of, by its name; where all are of one, that of the table.
    func number(_ value: String, in table: (table: String, number: Int)) -> String {
        subentities?.number(value) ?? "\(table.number)"
    }
}
