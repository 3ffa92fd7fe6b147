/// What a relationship's object in a model file may have.
///
/// The reader and the JSON Schema both go by this table.
enum RelationshipKey: String, CaseIterable {
    case entity
    case toMany
    case from
    case by
    case inverse
    case optional
    case ordered
    case minCount
    case maxCount
    case deleteRule
    case list
    case orphans
    case unresolved
    case identity
    case onConflict
    case owner
    case column
    case columns
    case table
    case renamingIdentifier
    case userInfo

    /// True if only a to-many may have it.
    var isForToMany: Bool { [.ordered, .minCount, .maxCount, .list].contains(self) }

    /// What it says, for the schema's readers.
    var summary: String {
        switch self {
        case .entity: "The entity that it leads to."
        case .toMany: "Whether an object may have several."
        case .from:
            "Key paths of the value; of several, the first that exists wins. [] where the JSON does not state it."
        case .by: "The attributes of the destination that a scalar names, if not its identifier."
        case .inverse: "The relationship of the destination that is the other side of this one."
        case .optional: "Whether a to-one may be null, or a to-many empty."
        case .ordered: "Whether the order of a to-many is kept."
        case .minCount: "The fewest destinations of a to-many."
        case .maxCount: "The most destinations of a to-many."
        case .deleteRule: "What happens to the destinations of an object that is deleted."
        case .list: "Whether a list replaces the links of an object, or only adds to them."
        case .orphans: "What happens to objects that a list has unlinked."
        case .unresolved: "What happens to references to objects that are not there when the job ends."
        case .identity: "Whether elements without identifier are told apart by their index in the list."
        case .onConflict: "What a nested object does to a stored one."
        case .owner: "Who changes the links once the object exists; an import leaves what is local alone."
        case .column: "The name of the column that holds the reference."
        case .columns: "The names of the columns that hold the reference, one for each column of the key."
        case .table: "The name of the join table."
        case .renamingIdentifier: "The name in the model before this one."
        case .userInfo: "Free annotations, kept as they are."
        }
    }
}
