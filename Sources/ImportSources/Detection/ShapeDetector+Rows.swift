import ImportModel

/// Rows: records that are arrays.
extension ShapeDetector {
    /// The one array of arrays of scalars, where it is called as lists of records are, or rows are asked for.
    func rows(among candidates: [Candidate]) -> Detection? {
        let rows = candidates.filter { $0.kind == .arrays && $0.width > 0 }
        guard rows.count == 1, rows[0].invalidKeyOffset == nil, let first = firstRecords(at: rows[0].path).first,
            areScalars(first), case .key(let name)? = rows[0].path.steps.dropLast().last,
            hints.haveHeader
                || Self.listNames.contains(name.lowercased()) && (rows[0].bytes * 2 >= text.count || isSheet)
        else { return nil }
        let reason = "the only array of rows\(isWhole ? "" : " at its beginning")"
        return .found(layout: .stream, paths: [rows[0].path], reason: reason)
    }

    /// True if the source is a range of values as Google Sheets writes it.
    private var isSheet: Bool { recordKeys(at: .root).contains(BytewiseString("majorDimension")) }

    /// The names that the first record at a record path has for the columns of the others; nil where it is no array, and empty
    /// where there is none.
    package func header(at path: RecordPath) -> [String]? {
        guard let first = firstRecords(at: path).first else { return [] }
        guard tape.tokens[first].kind == .array, tape.tokens[first].next != 0 else { return nil }
        return RowColumns.names(children(of: first).map { value(of: $0) })
    }

    /// True if the records at a record path are rows, and the first one looks like the names of their columns: all of it different
    /// texts that are no numbers, with values of another kind below one of them.
    package func looksLikeHeader(at path: RecordPath) -> Bool {
        let records = firstRecords(at: path).filter { tape.tokens[$0].next != 0 }
        guard records.count > 1, records.allSatisfy({ tape.tokens[$0].kind == .array && areScalars($0) }) else {
            return false
        }
        let rows = records.map { record in children(of: record).map { value(of: $0) } }
        let names = rows[0].compactMap { value -> String? in
            guard case .string(let text) = value, !text.isEmpty, !DecimalText.isNumber(text) else { return nil }
            return text
        }
        guard !names.isEmpty, names.count == rows[0].count, Set(names).count == names.count else { return false }
        return names.indices.contains { column in
            let values = rows.dropFirst().compactMap { $0.indices.contains(column) ? $0[column] : nil }
                .filter { $0 != .null }
            return !values.isEmpty
                && values.allSatisfy { value in
                    if case .string(let text) = value { return DecimalText.isNumber(text) }
                    return true
                }
        }
    }

    /// The first records at a record path.
    private func firstRecords(at path: RecordPath) -> [Int] {
        topLevelValues.prefix(Self.judgedLines).flatMap { values(at: path.steps[...], in: $0) ?? [] }
    }

    func areScalars(_ array: Int) -> Bool {
        children(of: array).allSatisfy { ![.object, .array].contains(tape.tokens[$0].kind) }
    }

    private func value(of token: Int) -> JSONValue {
        let bytes = tape.tokens[token]
        let start = Int(bytes.start)
        switch bytes.kind {
        case .string: return .string(key(token))
        case .number: return .number(String(decoding: text[start..<start + Int(bytes.length)], as: UTF8.self))
        case .boolean: return .boolean(bytes.length == 4)
        case .null, .object, .array: return .null
        }
    }
}
