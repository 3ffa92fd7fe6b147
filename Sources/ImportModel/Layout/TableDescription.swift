/// A table that a model needs, whatever the store is.
package struct TableDescription: Sendable {
    /// A column.
    package struct Column: Sendable {
        package let name: String
        package let role: Role
        /// Says how its values are stored; of what is no attribute, only type and storage count.
        package let attribute: AttributeDescription
    }

    /// What a column is for.
    package enum Role: Sendable {
        /// The key of rows without identifier.
        case rowID
        /// An attribute.
        case attribute
        /// The name of the row's entity, in a table of several.
        case entity
        /// Part of the key of another row.
        case reference
        /// The index of the row in a list, from 0.
        case position
    }

    /// An index.
    package struct Index: Sendable {
        package let name: String
        package let columns: [String]
        package let isUnique: Bool
        /// True if it keeps the identifier unique.
        package var isIdentifier = false
    }

    /// What a foreign key does when the row that it refers to is deleted.
    package enum DeleteAction: Sendable {
        case setNull, cascade, restrict
        /// Nothing, and it is not checked before the transaction ends.
        case noActionDeferred
    }

    /// Columns that refer to the key of another table's rows.
    package struct ForeignKey: Sendable {
        package let columns: [String]
        package let table: String
        package let referenced: [String]
        package let action: DeleteAction
    }

    package let name: String
    package var columns: [Column] = []
    package var primaryKey: [String] = []
    /// True if it is a join table, which has no row ids.
    package let isJoin: Bool
    package var indexes: [Index] = []
    package var foreignKeys: [ForeignKey] = []

    /// Its own and inherited attributes' columns, and all others.
    package func column(_ name: String) -> Column? { columns.first { $0.name.equalsFoldingASCII(name) } }
}
