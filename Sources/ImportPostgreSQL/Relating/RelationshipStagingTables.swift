import ImportModel
import Importer

/// The staging tables that a job has beside those of identified objects: elements without identifier, and what lists say.
///
/// All rows begin with `_ordinal` and `_child`: the record, and which of its statements it is. So what records say is in one
/// order, whatever order their chunks came in.
struct RelationshipStagingTables {
    let job: Int64
    let tables: RelationshipTables

    /// A staging table.
    struct Table {
        let name: String
        /// The columns of numbers, `_ordinal` and `_child` first.
        let numbers: [String]
        /// What `c0`, `c1` … hold.
        let columns: [PGColumn]

        /// The name in double quotes.
        var quoted: String { PGNames.quoted(name) }

        var creation: String {
            let columns =
                numbers.map { "\($0) bigint" } + columns.enumerated().map { "c\($0) \($1.type.declaration)" }
            return """
                CREATE TABLE IF NOT EXISTS \(quoted) (\(columns.joined(separator: ", "))) \
                WITH (autovacuum_enabled = false, toast.autovacuum_enabled = false)
                """
        }

        /// Rows for it.
        func rows(_ options: JobOptions) throws -> ChunkRows {
            let attributes = columns.enumerated().map { index, column in
                var attribute = AttributeDescription(name: "c\(index)", type: column.attribute.type, from: [])
                attribute.storage = column.attribute.storage
                attribute.fraction = column.attribute.fraction
                attribute.isWallClock = column.attribute.isWallClock
                return attribute
            }
            return ChunkRows(
                numbered: try EntityPlan(entity: EntityDescription(name: name, attributes: attributes), index: 0),
                numbers: numbers,
                table: name,
                options
            )
        }
    }

    private func name(_ suffix: String) -> String { "\(StagingName.prefix(of: job))\(suffix)" }

    // MARK: Elements

    /// The rows of an entity without identifier: `_list` is the statement of the list that has a row, -1 for a record of its
    /// own; `_relationship` is the list's; `_row_id` is there where rows are referred to.
    func elements(of entity: Int) -> Table {
        let numbers = ["_ordinal", "_child", "_list", "_relationship"]
        return Table(
            name: StagingName.rows(of: job, tables.home(of: entity)),
            numbers: numbers + (tables.rowID(of: entity) == nil ? [] : ["_row_id"]),
            columns: tables.columns[entity]
        )
    }

    /// The same of an entity that is identified within the object around it, for rows that lack the rest of that.
    func unnamed(_ reference: RelationshipTables.Reference) -> Table {
        Table(
            name: name("e\(reference.holder)"),
            numbers: ["_ordinal", "_child", "_list", "_relationship"],
            columns: tables.columns[reference.holder]
        )
    }

    /// The records that are decoded when it is known of which entities the objects before them are.
    var open: Table { Table(name: name("o"), numbers: ["_ordinal"], columns: []) }

    // MARK: Lists

    /// The lists of a relationship: `_row` is the statement of the object that has one, and the columns are its key.
    ///
    /// Of lists that only add, `_emptied` is 1 where one empties what is there, and else 0.
    func lists(_ relationship: Int) -> Table {
        Table(
            name: name("l\(relationship)"),
            numbers: ["_ordinal", "_child", "_row"] + (tables.isUnion(relationship) ? ["_emptied"] : []),
            columns: tables.key(of: tables.layout.relationships[relationship].entity)
        )
    }

    /// What they lead to, where that is in a join table: `_child` is the list's; the columns are the keys of the object that has
    /// it, and of the other one.
    func links(_ relationship: Int) -> Table {
        let placement = tables.layout.relationships[relationship]
        return Table(
            name: name("k\(relationship)"),
            numbers: ["_ordinal", "_child", "_position"],
            columns: tables.key(of: placement.entity) + tables.key(of: placement.destination)
        )
    }

    /// What is named by other attributes than the identifier.
    ///
    /// `_row` is the statement of the object that does so, `_entity` that whose table it is in, and `_position` the index in a list.
    /// The columns are its key, and the values.
    func names(_ naming: RelationshipTables.Naming) -> Table {
        Table(
            name: name("n\(naming.relationship)"),
            numbers: ["_ordinal", "_child", "_row", "_position", "_entity"],
            columns: tables.key(of: naming.entity) + naming.columns
        )
    }

    /// Of lists, the links in a join table of those that objects are named by only later: `_child` is the statement of such an
    /// object; the columns are those of `links`.
    func joined(_ naming: RelationshipTables.Naming) -> Table {
        let links = links(naming.relationship)
        return Table(name: name("w\(naming.relationship)"), numbers: links.numbers, columns: links.columns)
    }

    /// The rows that name something else than rows before them, which their columns do not tell.
    var renamed: Table { Table(name: name("x"), numbers: ["_ordinal", "_child", "_entity"], columns: []) }

    /// What sets the columns of a relationship that is listed, too.
    ///
    /// `_list` is the statement of the list that does, -1 where the object itself does, `unsaid` where it does so by saying nothing,
    /// and `_position` the index there; `_row` is that of the object's row, -1 where it has none. The columns are the object's key,
    /// and what it refers to.
    func setters(_ reference: RelationshipTables.Reference) -> Table {
        Table(
            name: name("s\(reference.owner)"),
            numbers: ["_ordinal", "_child", "_list", "_position", "_row"],
            columns: tables.key(of: reference.holder) + tables.columns[reference.holder][reference.columns]
        )
    }

    /// The objects that lists name before they are there, with the statements that make them; filled when all is staged.
    func late(_ reference: RelationshipTables.Reference) -> Table {
        Table(
            name: name("v\(reference.owner)"),
            numbers: ["_ordinal", "_child"],
            columns: tables.key(of: reference.holder)
        )
    }

    /// An object that replaces one that is there refers to nothing, as it does not say to what; a new one says nothing of it.
    static let unsaid = -2

    /// In place of a list that leaves an object as it is, this less the list's statement.
    static let kept = -3

    /// How many references without more than an identifier a record has, by entity, where records may be left out when they are
    /// staged already.
    var references: Table { Table(name: name("r"), numbers: ["_ordinal", "_entity", "_count"], columns: []) }

    /// True if these are kept.
    var countsReferences: Bool { tables.graph.onConflict == .ignore }

    /// The relationships whose lists are kept, by their indexes.
    var listing: [Int] {
        let inColumns = tables.references.filter { !($0.isOneToOne && $0.list == $0.owner) }.compactMap(\.list)
        let inTables = tables.layout.relationships.indices.filter { index in
            let placement = tables.layout.relationships[index]
            return placement.shape == .join && !placement.description.from.isEmpty
        }
        return (inColumns + inTables).sorted()
    }

    /// Those of them that are in join tables.
    var linking: [Int] { listing.filter { tables.layout.relationships[$0].shape == .join } }

    /// All tables but those of identified objects.
    var all: [Table] {
        tables.keyless.sorted().map(elements) + tables.unnamed.map(unnamed) + listing.map(lists) + linking.map(links)
            + tables.listed.map(setters) + (tables.shared.isEmpty ? [] : [open])
            + (countsReferences ? [references] : []) + named
    }

    private var named: [Table] {
        let names = tables.names
        guard !names.isEmpty else { return [] }
        return names.map(self.names) + names.filter(\.isJoined).map(joined) + [renamed]
    }
}
