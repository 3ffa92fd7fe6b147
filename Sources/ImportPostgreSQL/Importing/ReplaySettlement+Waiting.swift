import ImportModel
import Importer

/// What waits for objects, and which rows are there for references alone.
extension ReplaySettlement {
    /// The columns of an object that waits, of what it waits for, and of what names that.
    private func keys(of relationship: Int) -> (source: [PGColumn], target: [PGColumn], named: [PGColumn]) {
        let placement = layout.relationships[relationship]
        return (
            tables.key(of: placement.entity), tables.key(of: placement.destination),
            tables.names.first { $0.relationship == relationship }?.columns ?? []
        )
    }

    private func parts(_ json: String, _ columns: [PGColumn]) -> [String] {
        columns.enumerated().map { "(\(json)->>\($0))::\($1.type.declaration)" }
    }

    func loadWaiting(into store: ReplayStore) throws {
        for relationship in layout.relationships.indices {
            let (source, target, named) = keys(of: relationship)
            for (isNamed, other) in [(false, target), (true, named)] where !other.isEmpty {
                let list = parts("source", source) + parts(isNamed ? "target->'by'" : "target", other) + ["position"]
                let types = (source + other).map { ReadType($0.type) }
                var waiting: [ReplayStore.Waiting] = []
                let condition = isNamed ? RelationshipStatements.isNamed : RelationshipStatements.isIdentified
                try task.store.forEachRow(
                    "SELECT \(list.joined(separator: ", ")) FROM _import_link WHERE relationship = $1 AND \(condition)",
                    [.text(tables.name(of: relationship))],
                    connection
                ) { row in
                    let values = try types.indices.map { StoredValue(try types[$0].value(row, $0)) }
                    waiting.append(
                        ReplayStore.Waiting(
                            relationship: tables.name(of: relationship),
                            source: Array(values.prefix(source.count)),
                            target: Array(values.dropFirst(source.count)),
                            isNamed: isNamed,
                            position: try row.integer(values.count)
                        )
                    )
                    if waiting.count >= Self.page {
                        try store.load(waiting: waiting)
                        waiting.removeAll(keepingCapacity: true)
                    }
                }
                try store.load(waiting: waiting)
            }
        }
        for table in layout.tables {
            guard let key = try stubKey(of: table) else { continue }
            let types = key.map { ReadType($0.type) }
            var stubs: [[StoredValue]] = []
            try task.store.forEachRow(
                "SELECT \(parts("key", key).joined(separator: ", ")) FROM _import_stub WHERE table_name = $1",
                [.text(table.name)],
                connection
            ) { row in
                stubs.append(try types.indices.map { StoredValue(try types[$0].value(row, $0)) })
                if stubs.count >= Self.page {
                    try store.load(stubs: stubs, of: table)
                    stubs.removeAll(keepingCapacity: true)
                }
            }
            try store.load(stubs: stubs, of: table)
        }
    }

    /// The columns by which rows are known that are there for references alone; nil where there are none such.
    private func stubKey(of table: TableDescription) throws -> [PGColumn]? {
        guard !table.isJoin, let home = tables.homes.first(where: { layout.table(of: $0) == table.name }) else {
            return nil
        }
        let key = tables.key(of: home)
        return key.isEmpty ? nil : key
    }

    private static let page = 500

    /// What waits is what the SQLite store says, in the server's own form of JSON.
    func writeWaiting(from store: ReplayStore) throws {
        let names = layout.relationships.indices.map { tables.name(of: $0) }
        _ = try connection.execute(
            """
            CREATE TEMPORARY TABLE _import_serial_link (
                relationship text, source json, target json, is_named boolean, position bigint
            ) ON COMMIT DROP
            """
        )
        var parameters: [PGValue] = []
        func flush() throws {
            try insert(into: "_import_serial_link", &parameters, width: 5)
        }
        try store.forEachWaiting { row in
            parameters += [
                .text(row.relationship), .text(Self.json(row.source)), .text(Self.json(row.target)),
                .boolean(row.isNamed), .integer(row.position),
            ]
            if parameters.count >= Self.page * 5 { try flush() }
        }
        try flush()
        for (relationship, name) in names.enumerated() {
            for table in ["_import_link", "_import_unresolved"] {
                _ = try connection.execute("DELETE FROM \(table) WHERE relationship = $1", [.text(name)])
            }
            let (source, target, named) = keys(of: relationship)
            for (isNamed, other) in [(false, target), (true, named)] where !other.isEmpty {
                let key = "json_build_array(\(parts("target", other).joined(separator: ", ")))"
                _ = try connection.execute(
                    """
                    INSERT INTO _import_link (relationship, source, target, position)
                    SELECT relationship, json_build_array(\(parts("source", source).joined(separator: ", "))),
                        \(isNamed ? "json_build_object('by', \(key))" : key), position
                    FROM _import_serial_link WHERE relationship = $1 AND is_named = $2
                    """,
                    [.text(name), .boolean(isNamed)]
                )
            }
        }
        for table in layout.tables {
            guard let key = try stubKey(of: table) else { continue }
            _ = try connection.execute("DELETE FROM _import_stub WHERE table_name = $1", [.text(table.name)])
            _ = try connection.execute(
                "CREATE TEMPORARY TABLE _import_serial_stub (key json) ON COMMIT DROP"
            )
            try store.forEachStub(of: table) { values in
                parameters.append(.text(Self.json(values)))
                if parameters.count >= Self.page { try insert(into: "_import_serial_stub", &parameters, width: 1) }
            }
            try insert(into: "_import_serial_stub", &parameters, width: 1)
            _ = try connection.execute(
                """
                INSERT INTO _import_stub (table_name, key)
                SELECT $1, json_build_array(\(parts("key", key).joined(separator: ", "))) FROM _import_serial_stub
                """,
                [.text(table.name)]
            )
            _ = try connection.execute("DROP TABLE _import_serial_stub")
        }
        for (relationship, count) in try store.unresolved() where count > 0 {
            _ = try connection.execute(
                "INSERT INTO _import_unresolved (job, relationship, count) VALUES ($1, $2, $3)",
                [.integer(job), .text(relationship), .integer(count)]
            )
        }
    }

    private func insert(into table: String, _ parameters: inout [PGValue], width: Int) throws {
        guard !parameters.isEmpty else { return }
        let rows = stride(from: 1, to: parameters.count + 1, by: width).map { first in
            "(\((first..<first + width).map { "$\($0)" }.joined(separator: ", ")))"
        }
        _ = try connection.execute("INSERT INTO \(table) VALUES \(rows.joined(separator: ", "))", parameters)
        parameters.removeAll(keepingCapacity: true)
    }

    /// Values as JSON from which the server reads each in its column's type.
    private static func json(_ values: [StoredValue]) -> String {
        let texts = values.map { value in
            switch value {
            case .null: "null"
            case .integer(let number): "\(number)"
            case .real(let number): "\(number)"
            case .text(let text): JSONValue.string(text).serialized()
            case .textBytes(let bytes): JSONValue.string(String(decoding: bytes, as: UTF8.self)).serialized()
            case .blob(let bytes):
                "\"\\\\x" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "\""
            }
        }
        return "[\(texts.joined(separator: ", "))]"
    }
}

extension StoredValue {
    fileprivate init(_ value: Record.Value) {
        self =
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let text): .text(text)
            case .blob(let bytes): .blob(bytes)
            }
    }
}
