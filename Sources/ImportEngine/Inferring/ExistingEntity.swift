import ImportModel
import ImportSources

/// An entity as the store has it: where inference begins for a table that is there.
///
/// Its types and key paths decide; what the source alone would say of them yields.
package struct ExistingEntity: Sendable {
    /// An attribute for each column that an import can write, in the columns' order.
    package var entity: EntityDescription
    /// The columns, in lower case, that a model which was given says every record has.
    ///
    /// Of all others that was only observed: a source in which a record lacks them makes them optional.
    package var required: Set<BytewiseString> = []
    /// Columns, in lower case, that no import has written: the table is a person's own.
    ///
    /// An import leaves them to the table unless its source has values for them.
    package var undescribed: Set<BytewiseString> = []
    /// The BLOB columns, in lower case, of which nothing says yet how texts stand for their bytes.
    package var bytes: [BytewiseString: StoredBytes] = [:]
    /// Columns that the table computes itself: nothing is written there, and no other column gets their name.
    package var computed: [String] = []

    /// True if the importer has not made the table: it gets columns only if that is asked for.
    package var isForeign = false
    /// True if a person has given a model of it, whose key paths are the columns'.
    package var isGiven = false
    /// The keys of such a table, its primary key first.
    package var keys: [Key] = []

    /// Columns of which no two rows have the same values.
    package struct Key: Sendable {
        let columns: [String]
        let isPrimary: Bool

        package init(columns: [String], isPrimary: Bool) {
            self.columns = columns
            self.isPrimary = isPrimary
        }
    }

    /// Columns by which rows are referred to or refer to others: no attribute is written there, or gets their name.
    package var links: [String] = []
    /// True if its rows have a key that those of child tables can refer to.
    package var isKeyed = false
    /// The entities that its relationships lead to, by their names.
    package var children: [BytewiseString: ExistingEntity] = [:]
    /// Why records cannot be added by an inferred model; nil where they can.
    package var obstacle: Obstacle?

    /// Why an inferred model cannot continue a table.
    package enum Obstacle: Sendable {
        /// Its rows belong to those of this entity.
        case nested(in: String)
        /// It has relationships of other kinds than inference makes: their names.
        case relationships([String])
    }

    package init(entity: EntityDescription) { self.entity = entity }

    /// True if there are BLOB columns here or in child tables of which the texts are to decide.
    var hasBytes: Bool { !bytes.isEmpty || children.values.contains(where: \.hasBytes) }

    /// A column's name as SQLite compares it.
    package static func folded(_ column: String) -> BytewiseString { BytewiseString(column.asciiLowercased) }

    /// True if a record must have the attribute.
    package func isRequired(_ attribute: AttributeDescription) -> Bool {
        required.contains(Self.folded(attribute.column)) || entity.identifier.contains(attribute.name)
    }
}

/// The key paths that an entity reads, as a tree.
package struct ReadKeyPaths {
    /// True if an attribute reads this path, and with it all that is below.
    package private(set) var isCovered = false
    private var children: [BytewiseString: ReadKeyPaths] = [:]
    /// How far out the keys are that attributes read.
    private(set) var keyLevels: Set<Int> = []

    /// The paths of these attributes.
    package init(_ attributes: [AttributeDescription]) {
        for path in attributes.flatMap(\.from) {
            if let level = path.keyLevel { keyLevels.insert(level) }
            if path.isWithinRecord { insert(path.keys[...]) }
        }
    }

    private init() {}

    /// What is covered below a key; nil where nothing is.
    package subscript(key: String) -> ReadKeyPaths? { children[BytewiseString(key)] }

    package mutating func insert(_ keys: ArraySlice<String>) {
        guard let key = keys.first else {
            isCovered = true
            return
        }
        children[BytewiseString(key), default: ReadKeyPaths()].insert(keys.dropFirst())
    }
}
