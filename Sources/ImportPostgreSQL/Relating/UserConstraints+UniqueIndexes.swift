import Importer

/// Unique indexes and constraints that no import has made, on columns which have a value twice while records are settled.
extension UserConstraints {
    /// One of them.
    struct UniqueIndex {
        fileprivate let removal: String
        fileprivate let restoration: String

        /// Makes it again as it was; rows that do not keep it are refused.
        func restore(_ connection: PGConnection) throws { _ = try connection.execute(restoration) }
    }

    /// Takes them away.
    ///
    /// - Parameter lists: whether places in lists change one by one, too.
    /// - Returns: what is to be made again in the same transaction.
    func takeAwayUniqueIndexes(ofLists lists: Bool, _ connection: PGConnection) throws -> [UniqueIndex] {
        let indexes = try uniqueIndexes(ofLists: lists, connection)
        for index in indexes { _ = try connection.execute(index.removal) }
        return indexes
    }

    /// All of them; one stays that a foreign key needs.
    func uniqueIndexes(ofLists lists: Bool, _ connection: PGConnection) throws -> [UniqueIndex] {
        var found: [String: UniqueIndex] = [:]
        var names: [String] = []
        for reference in tables.references {
            let all = tables.columns[reference.holder]
            var columns = Set(all[reference.columns].map { BytewiseString($0.name) })
            if tables.isKeyless(reference.holder), lists, let position = reference.position {
                columns.insert(BytewiseString(all[position].name))
            } else if !reference.isOneToOne {
                continue
            }
            // Two rows have different identifiers at any time.
            let key = Set(tables.key(of: reference.holder).map { BytewiseString($0.name) })
            let table = tables.layout.table(of: reference.holder)
            for row in try connection.execute(Self.uniqueIndexes, [.text(PGNames.fitting(table))]) {
                let name = try row.text(0)
                let own = try Set(BookkeepingJSON.decode([String].self, row.text(1)).map { BytewiseString($0) })
                guard columns.isSubset(of: own), key.isEmpty || !key.isSubset(of: own), found[name] == nil else {
                    continue
                }
                let wanted = tables.indexName(of: reference)
                if try row.bool(2), own == columns, PGTables.isMade(name, as: wanted) { continue }
                found[name] = UniqueIndex(removal: try row.text(3), restoration: try row.text(4))
                names.append(name)
            }
        }
        return names.compactMap { found[$0] }
    }

    private static let uniqueIndexes = """
        SELECT x.relname, (
                SELECT json_agg(a.attname) FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS e (number, place)
                    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = e.number
                WHERE e.place <= i.indnkeyatts
            )::text, k.oid IS NULL AND i.indpred IS NULL AND i.indnatts = i.indnkeyatts,
            CASE WHEN k.oid IS NULL THEN format('DROP INDEX %s', x.oid::regclass)
                ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', c.oid::regclass, k.conname) END,
            concat_ws('; ',
                CASE WHEN k.oid IS NULL THEN pg_catalog.pg_get_indexdef(x.oid) ELSE format(
                    'ALTER TABLE %s ADD CONSTRAINT %I %s', c.oid::regclass, k.conname, pg_catalog.pg_get_constraintdef(k.oid)
                ) END,
                CASE WHEN i.indisclustered THEN format('ALTER TABLE %s CLUSTER ON %I', c.oid::regclass, x.relname) END,
                CASE WHEN i.indisreplident THEN format(
                    'ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', c.oid::regclass, x.relname
                ) END,
                'COMMENT ON INDEX ' || x.oid::regclass || ' IS ' || quote_literal(obj_description(x.oid, 'pg_class')),
                'COMMENT ON CONSTRAINT ' || quote_ident(k.conname) || ' ON ' || c.oid::regclass || ' IS '
                    || quote_literal(obj_description(k.oid, 'pg_constraint')))
        FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid
            JOIN pg_catalog.pg_class AS c ON c.oid = i.indrelid JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            LEFT JOIN pg_catalog.pg_constraint AS k ON k.conindid = i.indexrelid AND k.contype <> 'f'
        WHERE n.nspname = current_schema() AND c.relname = $1 AND i.indisunique AND i.indexprs IS NULL AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_constraint AS f WHERE f.conindid = i.indexrelid AND f.contype = 'f')
        ORDER BY x.relname
        """
}
