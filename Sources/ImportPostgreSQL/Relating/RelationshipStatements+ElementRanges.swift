import ImportModel
import Importer

/// Elements without identifier by themselves, to find those that their tables refuse.
extension RelationshipStatements {
    /// Statements that insert the staged elements of the records from `$1` to before `$2`, by entity and staging table.
    var tryingElements: [(entity: Int, stage: String, statement: String)] {
        let stages =
            tables.keyless.map { ($0, stage(of: $0)) } + tables.unnamed.map { ($0.holder, staged.unnamed($0).quoted) }
        return stages.map { entity, stage in
            let range = "s._ordinal >= $1::bigint AND s._ordinal < $2::bigint"
            return (entity, stage, inserting(entity, of: stage, where: range))
        }
    }
}
