import ImportModel
import Importer

/// What is said of rows that are none of the table's.
extension ChunkRows {
    /// What is wrong with a record whose row was not added.
    ///
    /// - Parameter byteOffset: that of the value which the fault is about, or of the record.
    func error(_ fault: RowError, byteOffset: Int64) -> ImportModel.RecordError {
        let attribute = columns.indices.contains(fault.attribute) ? fault.attribute : nil
        // A reference in a list is of no attribute.
        let type = attribute.map { columns[$0].attribute.type.rawValue } ?? "reference"
        let (code, expected, found): (CoercionError.Code, String, String) =
            switch fault.reason {
            case .nulCharacter: (.nulCharacter, type, "text with U+0000")
            case .outOfRange: (.outOfRange, type, "number")
            case .wrongForm: (.wrongForm, type, "value")
            case .rowTooLarge: (.rowTooLarge, "at most 1 GiB", "row")
            case .identifierTooLong: (.identifierTooLong, "at most 2,600 bytes", "value")
            case .incomplete: (.missingValue, type, "nothing")
            }
        return error(code, at: attribute, expected: expected, found: found, byteOffset)
    }

    private func error(
        _ code: CoercionError.Code,
        at attribute: Int?,
        expected: String,
        found: String,
        _ byteOffset: Int64
    ) -> ImportModel.RecordError {
        RecordError(
            entity: plan.entity.name,
            keyPath: attribute.map(path) ?? "",
            code: code,
            expected: expected,
            found: found,
            byteOffset: byteOffset
        )
    }

    private func path(of attribute: Int) -> String { plan.slotPaths[plan.slots[attribute].first ?? 0] }

    // MARK: What the server refuses

    /// Finds the rows that a COPY was refused for, by copying fewer and fewer of them; nothing of it stays.
    ///
    /// - Parameters:
    ///   - failure: how the COPY of all of them ended; its transaction is over.
    ///   - connection: without a transaction.
    /// - Returns: none where the failure is not about rows.
    /// - Throws: `PGError` that is not about a row.
    func findRefused(_ failure: PGError, _ connection: PGConnection) throws -> [RefusedRow] {
        struct Undone: Error {}
        guard failure.isAboutRow, count > 0 else { return [] }
        var found: [RefusedRow] = []
        do {
            let _: Void = try connection.transaction {
                try findRefused(among: 0..<count, connection, &found)
                throw Undone()
            }
        } catch is Undone {}
        return found
    }

    /// Copies rows, and where one of them is refused, those before and after the middle by themselves.
    private func findRefused(
        among range: Range<Int>,
        _ connection: PGConnection,
        _ found: inout [RefusedRow]
    ) throws {
        _ = try connection.execute("SAVEPOINT importer")
        do {
            _ = try connection.copy(statement) { try write(range, to: &$0) }
            // Foreign keys that are deferred are looked at here.
            _ = try connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
            _ = try connection.execute("RELEASE SAVEPOINT importer")
            return
        } catch let failure as PGError where failure.isAboutRow {
            _ = try connection.execute("ROLLBACK TO SAVEPOINT importer; RELEASE SAVEPOINT importer")
            guard range.count > 1 else {
                if let row = refused(failure, row: range.lowerBound) { found.append(row) }
                return
            }
        }
        let middle = range.lowerBound + range.count / 2
        try findRefused(among: range.lowerBound..<middle, connection, &found)
        try findRefused(among: middle..<range.upperBound, connection, &found)
    }

    /// Makes a reject of the record of a row that was refused.
    ///
    /// - Parameter row: its index.
    /// - Returns: nil where the failure is not about a row.
    func refused(_ failure: PGError, row: Int) -> RefusedRow? {
        guard failure.isAboutRow, ordinals.indices.contains(row) else { return nil }
        let attribute = column(of: failure).flatMap { name in
            names.firstIndex { BytewiseString($0) == BytewiseString(name) }
        }
        .map {
            $0 - (names.count - columns.count)
        }
        let place = attribute.flatMap { $0 < 0 ? nil : $0 }
        let error = failure.error(of: plan.entity.name, keyPath: place.map { path(of: $0) } ?? "")
        return RefusedRow(ordinal: ordinals[row], attribute: place, error: error)
    }

    /// Which column the context of a COPY names: `COPY people, line 17, column name`.
    ///
    /// The words may be in any language, but not the table's name. The context has a line for each function that was running,
    /// the COPY last.
    private func column(of failure: PGError) -> String? {
        guard let context = failure.context else { return nil }
        for text in context.split(separator: "\n").reversed() {
            guard text.contains("COPY"), let name = text.firstRange(of: table) else { continue }
            let rest = text[name.upperBound...].drop { !("0"..."9").contains($0) }
            let behind = rest.drop { ("0"..."9").contains($0) }
            return names.filter { behind.hasSuffix(" \($0)") }.max { $0.utf8.count < $1.utf8.count }
        }
        return nil
    }
}
