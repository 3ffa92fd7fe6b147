import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// What the store knows of its imports, as it is after a migration.
struct MigrationBookkeeping {
    /// With the old names.
    let map: MigrationMapping
    /// The last one.
    let job: Int64
    let database: Database

    /// Saves the new model, and what has other names now.
    func save(from before: ModelDescription, to model: ModelDescription, _ plan: ModelMigration.Plan) throws {
        // The jobs' entities have their new names by then.
        try renameEntities()
        try MigrationHistory.save(
            job: job,
            from: before,
            to: model,
            steps: BookkeepingJSON.encode(plan.steps),
            database
        )
        try renameRelationships()
        try renameProperties()
        let tables = map.new.tables.filter { !$0.isJoin }.map(\.name)
        try TableFingerprint.forget(map.old.tables.map(\.name), database)
        try TableFingerprint.record(tables, database)
        // What jobs have made of rows is not what they are of now.
        try UndoLog.forget(nil, database)
        try database.execute(sql: "DELETE FROM _import_conflict")
        _ = try MergeLog.appendReset(of: job, database)
    }

    /// Names may be swapped, so each gets one that none has first.
    ///
    /// What is gone gets one that no model has, as another entity may have its name now, or later.
    private func renameEntities() throws {
        var changes: [(entity: String, former: String, name: String, table: String)] = []
        for (index, entity) in map.old.entities.enumerated() {
            let former = map.old.hasTable(index) ? map.old.table(of: index) : ""
            guard let successor = map.match.successor(of: index) else {
                let name = try RemovedEntity.name(of: entity.name, in: map.new, database)
                changes.append((entity.name, former, name, ""))
                continue
            }
            let table = map.new.hasTable(successor) ? map.new.table(of: successor) : ""
            changes.append((entity.name, former, map.new.entities[successor].name, table))
        }
        func mark(_ place: Int) -> String { "_import_renamed_\(place)" }
        for (place, change) in changes.enumerated() {
            try database.execute(
                sql: """
                    UPDATE _import_entity SET entity = ?, table_name = ? WHERE entity = ? AND table_name = ? COLLATE NOCASE
                    """,
                arguments: [mark(place), change.table, change.entity, change.former]
            )
            guard !change.entity.hasSameBytes(as: change.name) else { continue }
            for table in ["_import_reject", "_import_ledger"] {
                try database.execute(
                    sql: "UPDATE \(table) SET entity = ? WHERE entity = ?",
                    arguments: [mark(place), change.entity]
                )
            }
        }
        for (place, change) in changes.enumerated() {
            for table in ["_import_entity", "_import_reject", "_import_ledger"] {
                try database.execute(
                    sql: "UPDATE \(table) SET entity = ? WHERE entity = ?",
                    arguments: [change.name, mark(place)]
                )
            }
        }
        let names = changes.map { (BytewiseString($0.entity), $0.name) }
        try MigrationHistory.rename(Dictionary(names) { first, _ in first }, database)
        try renameInErrors(changes.filter { !$0.entity.hasSameBytes(as: $0.name) }.map { ($0.entity, $0.name) })
        try renameTables()
    }

    /// Each error of a reject has its entity: that of the object in the record that is wrong.
    private func renameInErrors(_ names: [(from: String, to: String)]) throws {
        guard !names.isEmpty else { return }
        let cases = names.map { "WHEN \($0.from.sqlLiteral) THEN \($0.to.sqlLiteral)" }.joined(separator: " ")
        let entity = "json_extract(error.value, '$.entity')"
        try database.execute(
            sql: """
                UPDATE _import_reject SET errors = (
                    SELECT json_group_array(
                        json_set(error.value, '$.entity', CASE \(entity) \(cases) ELSE \(entity) END)
                    ) FROM json_each(errors) AS error
                )
                WHERE json_valid(errors) AND EXISTS (
                    SELECT 1 FROM json_each(errors) AS error
                    WHERE \(entity) IN (\(names.map(\.from.sqlLiteral).joined(separator: ", ")))
                )
                """
        )
    }

    private func renameTables() throws {
        let homes = map.old.entities.indices.filter { map.old.hasTable($0) && map.old.home(of: $0) == $0 }
        // A key that is another one now says nothing of the rows that were made for references.
        let names = homes.map { index in
            let successor = map.match.successor(of: index).flatMap { new in
                map.new.hasTable(new) && map.isDirect(MigrationMapping.EntityPair(old: index, new: new)) ? new : nil
            }
            return (from: map.old.table(of: index), to: successor.map { map.new.table(of: $0) })
        }
        try rename(names, "table_name", of: "_import_stub")
        // Rows of tables that are one now have other row ids.
        let joined = names.map { name in
            let count = names.count { $0.to.map(ExistingEntity.folded) == name.to.map(ExistingEntity.folded) }
            return (from: name.from, to: count > 1 ? nil : name.to)
        }
        try rename(joined, "table_name", of: "_import_addition", where: "kind IN ('rows', 'end')")
    }

    private func renameRelationships() throws {
        let names = map.old.relationships.indices.map { index in
            (
                from: map.old.name(of: index),
                to: map.match.relationships.firstIndex(of: index).map { map.new.name(of: $0) }
            )
        }
        for table in ["_import_unresolved", "_import_link", "_import_orphan"] {
            try rename(names, "relationship", of: table)
        }
    }

    /// Gives names in a column other ones, which may be swapped, and removes the rows of those that have none now.
    private func rename(
        _ names: [(from: String, to: String?)],
        _ column: String,
        of table: String,
        where condition: String = "1"
    ) throws {
        let changed = names.enumerated().filter { $1.to?.hasSameBytes(as: $1.from) != true }
        for (place, name) in changed {
            if name.to == nil {
                try database.execute(
                    sql: "DELETE FROM \(table) WHERE \(column) = ? AND \(condition)",
                    arguments: [name.from]
                )
            } else {
                try database.execute(
                    sql: "UPDATE \(table) SET \(column) = ? WHERE \(column) = ? AND \(condition)",
                    arguments: ["_import_renamed_\(place)", name.from]
                )
            }
        }
        for (place, name) in changed where name.to != nil {
            try database.execute(
                sql: "UPDATE OR REPLACE \(table) SET \(column) = ? WHERE \(column) = ?",
                arguments: [name.to, "_import_renamed_\(place)"]
            )
        }
    }
}

extension MigrationBookkeeping {
    /// What was counted of attributes and relationships; keys of the JSON, which nothing has read, are none.
    private func renameProperties() throws {
        for (index, _) in map.old.entities.enumerated() {
            guard let successor = map.match.successor(of: index) else { continue }
            var names: [BytewiseString: String] = [:]
            for attribute in map.new.hierarchy.attributes(of: successor) {
                guard let before = map.match.attribute(attribute.name, of: successor, in: index) else { continue }
                names[BytewiseString(before.name)] = attribute.name
            }
            for relationship in map.new.relationships(of: successor) {
                guard let before = map.match.relationships[relationship] else { continue }
                names[BytewiseString(map.old.relationships[before].description.name)] =
                    map.new.relationships[relationship].description.name
            }
            let olds =
                map.old.hierarchy.attributes(of: index).map(\.name)
                + map.old.relationships(of: index).map { map.old.relationships[$0].description.name }
            let changed = olds.map { ($0, names[BytewiseString($0)] ?? "\($0) (gone)") }
                .filter { !$0.hasSameBytes(as: $1) }
            try renameInLedger(changed, of: map.new.entities[successor].name)
        }
    }

    /// Names may be swapped, so each gets one that none has first.
    private func renameInLedger(_ names: [(from: String, to: String)], of entity: String) throws {
        for (place, name) in names.enumerated() {
            try database.execute(
                sql: """
                    UPDATE _import_ledger SET attribute = ? WHERE entity = ? AND attribute = ? AND kind <> 'unknownKey' AND NOT is_error
                    """,
                arguments: ["_import_renamed_\(place)", entity, name.from]
            )
        }
        for (place, name) in names.enumerated() {
            let arguments: StatementArguments = [
                "to": name.to, "entity": entity, "mark": "_import_renamed_\(place)",
            ]
            try database.execute(
                sql: """
                    INSERT INTO _import_ledger (job, entity, attribute, kind, count)
                    SELECT job, entity, :to, kind, count FROM _import_ledger WHERE entity = :entity AND attribute = :mark
                    ON CONFLICT DO UPDATE SET count = count + excluded.count
                    """,
                arguments: arguments
            )
            try database.execute(
                sql: "DELETE FROM _import_ledger WHERE entity = ? AND attribute = ?",
                arguments: [entity, "_import_renamed_\(place)"]
            )
        }
    }
}
