import Foundation
import ImportEngine
import ImportModel
import ImportSources

extension AttributeDescription {
    /// A stored value as JSON: booleans as `true` and `false`, decimals with all their digits, binaries in their format, bitfields as
    /// objects of flags.
    public func json(of stored: CoercedJSON, dates: DateStyle = .iso8601) -> JSONValue {
        var output: [UInt8] = []
        stored.withRowValue { ValueWriter(self, dates: dates).appendJSON($0, to: &output) }
        // Half a surrogate pair, which stored JSON may hold, is no text.
        return (try? JSONValue(parsing: output)) ?? .string(String(decoding: output, as: UTF8.self))
    }

    /// A stored value as text without quotes; a null is an empty text.
    public func text(of stored: CoercedJSON, dates: DateStyle = .iso8601) -> String {
        if case .text(let text) = stored, type != .date { return text }
        var output: [UInt8] = []
        stored.withRowValue { ValueWriter(self, dates: dates).appendPlain($0, to: &output) }
        return String(decoding: output, as: UTF8.self)
    }
}

extension EntityDescription {
    /// The entity for importing fetched records: an import of the NDJSON that `StoreReader` writes gives the same rows.
    ///
    /// Each attribute reads the value under its own name, dates in ISO 8601, and all may be null. Table, columns, types, identifier and
    /// the storage of dates are the same.
    public var readingBack: EntityDescription {
        var entity = self
        entity.records = nil
        entity.userInfo = nil
        // References are attributes as others are.
        entity.relationships = []
        func hasAll(_ names: [String]) -> Bool { names.allSatisfy { name in attributes.contains { $0.name == name } } }
        entity.indexes.removeAll { !hasAll($0) }
        entity.together.removeAll { !hasAll($0) }
        entity.parent = nil
        entity.subentity = nil
        entity.isAbstract = false
        entity.attributes = attributes.map { attribute in
            AttributeDescription(
                name: attribute.name,
                column: attribute.column,
                type: attribute.type,
                isOptional: !identifier.contains(attribute.name),
                formats: attribute.type == .binary ? attribute.formats : [],
                fraction: attribute.fraction,
                storage: attribute.storage,
                bits: attribute.bits
            )
        }
        return entity
    }
}

extension Record.Value {
    /// Calls `body` with the value as a row has it: with a NUL after a text.
    package func withRowValue(_ body: (StoredRow.Value) -> Void) {
        switch self {
        case .null: body(.null)
        case .integer(let number): body(.integer(number))
        case .real(let number): body(.real(number))
        case .text(let text):
            (Array(text.utf8) + [0]).withUnsafeBufferPointer {
                body(.text(UnsafeBufferPointer(rebasing: $0.dropLast())))
            }
        case .blob(let bytes): bytes.withUnsafeBufferPointer { body(.blob($0)) }
        }
    }
}
