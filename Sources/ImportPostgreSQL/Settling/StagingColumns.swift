import ImportModel

/// How the columns of a staging table are named, and what its masks say.
///
/// The names have nothing of the entity's, so none can clash with those that are the staging table's own.
struct StagingColumns: Sendable {
    /// How many attributes a mask has bits for: 63, so that none makes a `bigint` negative.
    static let maskWidth = 63

    let columns: [StagedEntity.Column]
    let policy: ConflictPolicy
    /// The identifier's.
    let identifier: [Int]

    init(_ entity: StagedEntity) {
        columns = entity.columns
        policy = entity.policy
        identifier = entity.columns.indices.filter { entity.columns[$0].isIdentifier }
    }

    /// How many masks a row has.
    var masks: Int { max(1, (columns.count + Self.maskWidth - 1) / Self.maskWidth) }

    /// All names, in the order in which rows are staged.
    var names: [String] {
        ["_ordinal", "_child"] + (0..<masks).map { "_mask_\($0)" } + ["_unmet"] + columns.indices.map { "c\($0)" }
    }

    /// What makes each of them.
    var definitions: [String] {
        ["_ordinal bigint", "_child integer"] + (0..<masks).map { "_mask_\($0) bigint" } + ["_unmet boolean"]
            + columns.enumerated().map { "c\($0) \($1.type)" }
    }

    /// What the rows are told apart by, of a row of the staging table.
    func keys(of row: String) -> [String] { identifier.map { compared("\(row).c\($0)", $0) } }

    /// The same, of an object.
    func objectKeys(of row: String) -> [String] { identifier.map { compared("\(row).\(columns[$0].name)", $0) } }

    /// Their names where they are selected as such.
    var keyNames: [String] { identifier.indices.map { "k\($0)" } }

    /// A value as it is compared.
    func compared(_ value: String, _ column: Int) -> String {
        if columns[column].isJSON { return "(\(value))::text" }
        return columns[column].isLoose && !columns[column].isIdentifier ? "(\(value)) COLLATE \"C\"" : value
    }

    /// True if records change it in objects that are there.
    func isSettable(_ column: Int) -> Bool { !columns[column].isIdentifier && !columns[column].isLocal }

    /// Whether a row sets a column of an object that is there, as a condition; nil for always.
    func isSet(_ column: Int, by row: String) -> String? {
        if policy == .replace, !columns[column].isGenerated { return nil }
        return "\(row)._mask_\(column / Self.maskWidth) & \(Int64(1) << Int64(column % Self.maskWidth)) <> 0"
    }

    /// A condition: `left` and `right` are the keys of the same object.
    static func areSame(_ left: [String], _ right: [String]) -> String {
        zip(left, right).map { "\($0) = \($1)" }.joined(separator: " AND ")
    }
}
