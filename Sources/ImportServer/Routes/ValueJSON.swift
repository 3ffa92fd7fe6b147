import Foundation
import ImportModel
import Importer

/// A stored value for a page: numbers that JavaScript would round are texts, and so is JSON.
struct ValueJSON: Sendable {
    /// True if every value stays hidden.
    let hidesValues: Bool

    /// - Parameter isCut: whether it is only the beginning of the value.
    func value(_ value: Record.Value, of attribute: AttributeDescription, isCut: Bool = false) -> JSONValue {
        guard !hidesValues else { return Self.hidden }
        switch (attribute.type, value) {
        case (_, .null): return .null
        case (.boolean, .integer(let number)) where number == 0 || number == 1: return .boolean(number == 1)
        case (.date, _):
            if let text = StoredDate.iso8601(value, storage: attribute.ownForm) { return .string(text) }
        case (.uuid, .blob(let bytes)):
            if let text = attribute.text(ofBinary: bytes) { return .string(text) }
        case (.decimal, .integer(let number)): return .string(String(number))
        case (.decimal, .real(let number)): return .string("\(number)")
        default: break
        }
        switch value {
        case .null: return .null
        case .integer(let number): return .integer(number)
        case .real(let number): return .double(number)
        case .text(let text): return .string(text)
        case .blob(let bytes):
            var members: JSONValue = ["base64": .string(Data(bytes).base64EncodedString())]
            if !isCut { members["bytes"] = .integer(Int64(bytes.count)) }
            return members
        }
    }

    /// What there is instead of a value.
    static let hidden: JSONValue = ["hidden": true]

    /// The values of a row by the names of its attributes.
    func values(of row: RecordPage.Row, _ attributes: [AttributeDescription]) -> JSONValue {
        JSONValue(
            attributes.enumerated().map { index, attribute in
                let value = row.record.values[index]
                return (attribute.name, self.value(value, of: attribute, isCut: row.cut.contains(index)))
            }
        )
    }
}
