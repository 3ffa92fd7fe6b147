import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The entities that a store's models and tables make together.
package enum StoredEntities {
    /// An entity as the models of the store's jobs describe it, all of them together.
    package struct DescribedEntity {
        package var entity: EntityDescription
        /// The identifier of its table: the last one by which an import has taken anything; empty for none.
        package var identifier: [String] = []
        /// The columns, in lower case, that the last given model with them says every record has.
        var required: Set<BytewiseString> = []
        /// True if a person has given a model of it, rather than leaving it to inference.
        package var isGiven = false
    }

    /// What the models of the store's jobs say, in the order in which their tables were first described.
    ///
    /// - Parameter job: one whose model does not count.
    package static func described(_ database: Database, excluding job: Int64? = nil) throws -> [DescribedEntity] {
        // A database that no import has written yet has none.
        guard try database.hasTable("_import_job") else { return [] }
        // A job that retries a repair file uses the model of the rejects' job, given or not.
        let models = try Row.fetchAll(
            database,
            sql: """
                SELECT content AS model, max(inferred, given) AS last, given > 0 AS is_given, EXISTS (
                    SELECT 1 FROM _import_job AS job JOIN _import_entity AS counts ON counts.job = job.id
                    WHERE job.model = document.id AND job.id > :last AND job.id IS NOT :job
                        AND inserted + updated + unchanged + ignored > 0
                ) AS has_taken
                FROM (
                    SELECT id, content, \(StoredJob.newest(isGiven: false)) AS inferred, \(StoredJob.newest(isGiven: true)) AS given
                    FROM _import_document WHERE kind = 'model'
                ) AS document WHERE last > 0
                \(MigrationHistory.model("UNION ALL SELECT model.content, migration.job, 1, 1", database)) ORDER BY last
                """,
            arguments: ["job": job, "last": MigrationHistory.lastJob(database)]
        )
        var tables: [BytewiseString] = []
        var all: [BytewiseString: DescribedEntity] = [:]
        for row in models {
            guard let model = try? ModelDescription(stored: row["model"] as String) else { continue }
            for entity in model.entities {
                let table = ExistingEntity.folded(entity.table)
                if all[table] == nil { tables.append(table) }
                var described = all[table] ?? DescribedEntity(entity: entity)
                described.add(entity, isGiven: row["is_given"])
                if row["has_taken"], !entity.identifier.isEmpty { described.identifier = entity.identifier }
                all[table] = described
            }
        }
        return tables.compactMap { all[$0] }
    }

    /// An entity with an attribute for each of these columns.
    package static func entity(_ described: EntityDescription, with columns: [StoredColumn]) -> EntityDescription {
        let present = Set(columns.map { ExistingEntity.folded($0.name) })
        var names: Set<BytewiseString> = []
        var attributes: [BytewiseString: AttributeDescription] = [:]
        // Two models may give one name to several columns; the later one's keeps it.
        func add(_ attribute: AttributeDescription, _ column: BytewiseString) {
            var attribute = attribute
            while !names.insert(BytewiseString(attribute.name)).inserted { attribute.name += "_" }
            attributes[column] = attribute
        }
        for attribute in described.attributes {
            let column = ExistingEntity.folded(attribute.column)
            if present.contains(column) { add(attribute, column) }
        }
        for column in columns where attributes[ExistingEntity.folded(column.name)] == nil {
            add(column.attribute, ExistingEntity.folded(column.name))
        }
        var entity = described
        entity.attributes = columns.compactMap { attributes[ExistingEntity.folded($0.name)] }
        if !entity.identifier.allSatisfy({ names.contains(BytewiseString($0)) }) { entity.identifier = [] }
        entity.indexes.removeAll { !$0.allSatisfy { names.contains(BytewiseString($0)) } }
        return entity
    }
}

extension StoredEntities.DescribedEntity {
    /// Adds what a later model says: it counts, and what an earlier one says beyond it stays.
    fileprivate mutating func add(_ later: EntityDescription, isGiven: Bool) {
        entity = later.continuing(entity)
        guard isGiven else { return }
        self.isGiven = true
        for attribute in later.attributes {
            let column = ExistingEntity.folded(attribute.column)
            if attribute.isOptional { required.remove(column) } else { required.insert(column) }
        }
    }
}
