import ImportModel
import Importer

/// What is said of rows that are none of the table's.
extension ChunkRows {
    /// What is wrong with a record whose row was not added.
    ///
    /// - Parameter byteOffset: the record's.
    func error(_ fault: RowFault, byteOffset: Int64) -> ImportModel.RecordError {
        guard columns.indices.contains(fault.attribute) else {
            return error(.rowTooLarge, at: nil, expected: Self.largestRow, found: "row", byteOffset)
        }
        let type = columns[fault.attribute].attribute.type.rawValue
        switch fault.reason {
        case .nulCharacter:
            return error(.nulCharacter, at: fault.attribute, expected: type, found: "text with U+0000", byteOffset)
        case .outOfRange:
            return error(.outOfRange, at: fault.attribute, expected: type, found: "number", byteOffset)
        case .wrongForm:
            return error(.wrongForm, at: fault.attribute, expected: type, found: "value", byteOffset)
        case .rowTooLarge:
            return error(.rowTooLarge, at: fault.attribute, expected: Self.largestRow, found: "row", byteOffset)
        case .identifierTooLong:
            return error(
                .identifierTooLong,
                at: fault.attribute,
                expected: "at most 2,600 bytes",
                found: "value",
                byteOffset
            )
        }
    }

    private static let largestRow = "at most 1 GiB"

    private func error(
        _ code: CoercionError.Code,
        at attribute: Int?,
        expected: String,
        found: String,
        _ byteOffset: Int64
    ) -> ImportModel.RecordError {
        RecordError(
            entity: plan.entity.name,
            keyPath: attribute.map { plan.slotPaths[plan.slots[$0].first ?? 0] } ?? "",
            code: code,
            expected: expected,
            found: found,
            byteOffset: byteOffset
        )
    }

    // MARK: What the server refuses

    /// Which of the rows a refused COPY is about.
    ///
    /// - Returns: nil where it is not about one row, or does not say which; see `refusedAmong`.
    func refused(_ failure: ServerFailure) -> RefusedRow? {
        guard let line = line(of: failure), ordinals.indices.contains(line.number - 1), !isAboutSeveral(failure) else {
            return nil
        }
        return refused(failure, row: line.number - 1, column: line.column)
    }

    /// The rows among which the one is that a COPY was refused for; none where it was refused for something else.
    ///
    /// A server collects 1,000 rows (`MAX_BUFFERED_TUPLES`, `src/backend/commands/copyfrom.c`) and writes them at once;
    /// of a row that is too large for the table it then names the last line that it has read. Foreign keys are looked
    /// at when all rows are there, and no line is named.
    func refusedAmong(_ failure: ServerFailure) -> Range<Int> {
        guard isAboutRows(failure) else { return 0..<0 }
        guard let line = line(of: failure), ordinals.indices.contains(line.number - 1) else { return 0..<count }
        guard isAboutSeveral(failure) else { return line.number - 1..<line.number }
        return max(0, line.number - Self.mostBuffered)..<line.number
    }

    /// Finds the row that a COPY was refused for, by copying fewer and fewer of them.
    ///
    /// - Parameters:
    ///   - failure: how the COPY of all of them ended; its transaction is over.
    ///   - connection: without a transaction. What is copied is rolled back.
    /// - Returns: nil where the failure is not about a row.
    /// - Throws: `ServerFailure` that is not about a row.
    func findRefused(_ failure: ServerFailure, _ connection: ServerConnection) throws -> RefusedRow? {
        if let row = refused(failure) { return row }
        guard isAboutRows(failure) else { return nil }
        let likely = refusedAmong(failure)
        if let row = try findRefused(among: likely, connection) { return row }
        return likely.count < count ? try findRefused(among: 0..<count, connection) : nil
    }

    /// - Returns: nil where the server takes all of them.
    private func findRefused(among rows: Range<Int>, _ connection: ServerConnection) throws -> RefusedRow? {
        var range = rows
        guard var refusal = try copying(range, connection) else { return nil }
        while range.count > 1 {
            let half = range.lowerBound..<range.lowerBound + range.count / 2
            if let earlier = try copying(half, connection) {
                (range, refusal) = (half, earlier)
            } else {
                range = half.upperBound..<range.upperBound
                guard let later = try copying(range, connection) else { return nil }
                refusal = later
            }
        }
        return refused(refusal, row: range.lowerBound, column: line(of: refusal)?.column)
    }

    /// Copies some rows and takes that back.
    ///
    /// - Returns: why the server refuses one of them; nil where it takes them all.
    private func copying(_ range: Range<Int>, _ connection: ServerConnection) throws -> ServerFailure? {
        struct Undone: Error {}
        do {
            let _: Void = try connection.transaction {
                _ = try connection.copy(statement) { try write(range, to: &$0) }
                // Foreign keys that are deferred are looked at here.
                _ = try connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
                throw Undone()
            }
            return nil
        } catch is Undone {
            return nil
        } catch let failure as ServerFailure where isAboutRows(failure) {
            return failure
        }
    }

    /// How many rows a server collects at most.
    private static let mostBuffered = 1_000

    /// Whether it says that a row cannot be in the table: data exceptions, integrity constraints, and limits of the
    /// server (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
    private func isAboutRows(_ failure: ServerFailure) -> Bool {
        ["22", "23"].contains(failure.sqlState.prefix(2)) || failure.sqlState == "54000"
    }

    /// Whether the line that it names is only the last of those that were written together.
    private func isAboutSeveral(_ failure: ServerFailure) -> Bool {
        failure.sqlState == "54000" && !isAboutIndex(failure)
    }

    /// Whether it is about the size of an entry of an index.
    ///
    /// The messages are `index row size 2712 exceeds btree version 4 maximum 2704 for index "a"`
    /// (`src/backend/access/nbtree/nbtutils.c`), `index row requires 8200 bytes, maximum size is 8191`
    /// (`src/backend/access/common/indextuple.c`); the server may have them in another language.
    private func isAboutIndex(_ failure: ServerFailure) -> Bool {
        failure.message.contains("btree") || failure.message.hasPrefix("index row")
    }

    private func refused(_ failure: ServerFailure, row: Int, column: String?) -> RefusedRow? {
        guard isAboutRows(failure), ordinals.indices.contains(row) else { return nil }
        let attribute = column.flatMap { name in names.firstIndex { ExactText($0) == ExactText(name) } }.map {
            $0 - (names.count - columns.count)
        }
        let error: ImportModel.RecordError
        if failure.sqlState != "54000" {
            error = self.error(
                .constraintViolation,
                at: attribute.flatMap { $0 < 0 ? nil : $0 },
                expected: RecordError.takenRow,
                found: failure.message,
                0
            )
        } else if isAboutIndex(failure) {
            error = self.error(.identifierTooLong, at: nil, expected: "at most 2,704 bytes", found: "value", 0)
        } else {
            error = self.error(
                .rowTooLarge,
                at: nil,
                expected: "at most 8,160 bytes without long values",
                found: "row",
                0
            )
        }
        return RefusedRow(ordinal: ordinals[row], error: error)
    }

    /// Which line, from 1, and which column the context of a COPY names: `COPY people, line 17, column name`.
    ///
    /// The words may be in any language, but not the table's name. The context has a line for each function that was
    /// running, the COPY last.
    private func line(of failure: ServerFailure) -> (number: Int, column: String?)? {
        guard let context = failure.context else { return nil }
        for text in context.split(separator: "\n").reversed() {
            guard text.contains("COPY"), let name = text.firstRange(of: table) else { continue }
            let rest = text[name.upperBound...]
            guard let first = rest.firstIndex(where: { ("0"..."9").contains($0) }) else { continue }
            let digits = rest[first...].prefix { ("0"..."9").contains($0) }
            guard let number = Int(digits) else { continue }
            let column = names.filter { rest[digits.endIndex...].hasSuffix(" \($0)") }.max {
                $0.utf8.count < $1.utf8.count
            }
            return (number, column)
        }
        return nil
    }
}
