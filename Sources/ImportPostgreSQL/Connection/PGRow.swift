import Importer

/// A row of a result, in text.
struct PGRow: Sendable {
    /// As the server has sent them; nil for NULL.
    let values: [String?]

    /// What a statement of ours never gives, but a damaged schema may.
    private func unusable(_ index: Int) -> ImportError {
        ImportError(
            .storeDamaged,
            "the server has sent a value of another kind than was asked for (column \(index + 1))"
        )
    }

    private func value<Value>(_ index: Int, _ read: (String) -> Value?) throws -> Value? {
        guard values.indices.contains(index) else { throw unusable(index) }
        guard let text = values[index] else { return nil }
        guard let value = read(text) else { throw unusable(index) }
        return value
    }

    private func present<Value>(_ index: Int, _ value: Value?) throws -> Value {
        guard let value else { throw unusable(index) }
        return value
    }

    // MARK: NULL is nil

    /// - Throws: `ImportError` with `.io` where there is no such column.
    func optionalText(_ index: Int) throws -> String? { try value(index) { $0 } }

    /// - Throws: `ImportError` with `.io` where it is no number.
    func optionalInteger(_ index: Int) throws -> Int64? { try value(index) { Int64($0) } }

    /// - Throws: `ImportError` with `.io` where it is no number.
    func optionalDouble(_ index: Int) throws -> Double? { try value(index) { Double($0) } }

    /// - Throws: `ImportError` with `.io` where it is no boolean.
    func optionalBool(_ index: Int) throws -> Bool? { try value(index) { ["t": true, "f": false][$0] } }

    /// A `bytea` in its hex format (<https://www.postgresql.org/docs/current/datatype-binary.html>).
    ///
    /// - Throws: `ImportError` with `.io` where it is none.
    func optionalBytes(_ index: Int) throws -> [UInt8]? { try value(index, Self.bytes) }

    // MARK: NULL is an error

    /// - Throws: `ImportError` with `.io` where it is NULL.
    func text(_ index: Int) throws -> String { try present(index, optionalText(index)) }

    /// - Throws: `ImportError` with `.io` where it is NULL or no number.
    func integer(_ index: Int) throws -> Int64 { try present(index, optionalInteger(index)) }

    /// - Throws: `ImportError` with `.io` where it is NULL or no number.
    func double(_ index: Int) throws -> Double { try present(index, optionalDouble(index)) }

    /// - Throws: `ImportError` with `.io` where it is NULL or no boolean.
    func bool(_ index: Int) throws -> Bool { try present(index, optionalBool(index)) }

    /// - Throws: `ImportError` with `.io` where it is NULL or no `bytea`.
    func bytes(_ index: Int) throws -> [UInt8] { try present(index, optionalBytes(index)) }

    private static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8
        guard digits.starts(with: "\\x".utf8), digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2 - 1)
        var high: UInt8?
        for digit in digits.dropFirst(2) {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }
}

/// A statement's rows, and how many rows it has written.
struct PGRows: RandomAccessCollection, Sendable {
    var rows: [PGRow] = []
    /// Rows that an INSERT, UPDATE, DELETE or COPY has written (`PQcmdTuples`); of a SELECT, those that it has read.
    var affected: Int64 = 0
    /// What the server calls what it has done (`PQcmdStatus`): `INSERT 0 1`, `COMMIT`.
    var tag = ""

    var startIndex: Int { 0 }
    var endIndex: Int { rows.count }
    subscript(position: Int) -> PGRow { rows[position] }
}
