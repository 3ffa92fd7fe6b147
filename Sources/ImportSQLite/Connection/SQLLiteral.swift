import GRDB
import ImportModel

extension String {
    /// The text as an SQL literal.
    package var sqlLiteral: String {
        guard !utf8.contains(0) else {
            return "CAST(x'" + utf8.map { hexadecimal($0) }.joined() + "' AS TEXT)"
        }
        return quoted(by: "'", with: "''")
    }
}

private func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
}

extension DatabaseValue {
    /// The value as an SQL literal, exactly.
    package var literal: String {
        switch storage {
        case .null: "NULL"
        case .int64(.min): "(-9223372036854775807 - 1)"
        case .int64(let number): "\(number)"
        case .double(let number): number.isFinite ? "\(number)" : number > 0 ? "9e999" : "-9e999"
        case .string(let text): text.sqlLiteral
        case .blob(let data): "x'" + data.map { hexadecimal($0) }.joined() + "'"
        }
    }
}
