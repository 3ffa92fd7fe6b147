/// The form in which values of a date, a UUID or a decimal are stored.
public enum StorageForm: String, Sendable, Hashable, Codable, CaseIterable {
    /// A date as TEXT: `YYYY-MM-DDTHH:MM:SS.SSSZ`.
    case iso8601
    /// A date as TEXT, `YYYY-MM-DD HH:MM:SS.SSS` in UTC, as SQLite's functions, GRDB and Django write and compare it.
    case sqlite
    /// A date as INTEGER: whole seconds since 1970-01-01T00:00:00Z, milliseconds cut off.
    case unix
    /// A date as INTEGER: milliseconds since 1970-01-01T00:00:00Z.
    case unixMilliseconds
    /// A date as REAL, seconds since 2001-01-01T00:00:00Z, as Core Data writes it.
    case referenceDate
    /// A UUID in lower case, or a decimal with all its digits, as TEXT.
    case text
    /// A UUID as BLOB: its 16 bytes.
    case blob
    /// A decimal as REAL: the nearest double.
    case real
}

/// A library with which a program reads and writes a store.
public enum StoreClient: String, Sendable, Hashable, Codable, CaseIterable {
    /// GRDB.swift, which writes a UUID as its bytes, a date as SQLite's text, and a decimal as text.
    case grdb

    /// The form in which it writes values of a type; nil where that is the standard one, or the only one.
    package func form(of type: AttributeType) -> StorageForm? {
        switch type {
        case .uuid: .blob
        case .date: .sqlite
        default: nil
        }
    }
}

extension AttributeType {
    /// The forms in which its values may be stored, the standard one first; none where there is no choice.
    package var storageForms: [StorageForm] {
        switch self {
        case .date: [.iso8601, .sqlite, .unix, .unixMilliseconds, .referenceDate]
        case .uuid: [.text, .blob]
        case .decimal: [.text, .real]
        default: []
        }
    }
}

extension AttributeDescription {
    /// The form in which its values are stored; nil for the standard one, whether it is named or not.
    package var ownForm: StorageForm? { storage == type.storageForms.first ? nil : storage }
}

extension ModelDescription {
    /// The model with the storage forms of a library, for attributes without a form of their own.
    public func stored(for client: StoreClient) -> ModelDescription {
        var model = self
        for entity in model.entities.indices {
            for index in model.entities[entity].attributes.indices {
                let attribute = model.entities[entity].attributes[index]
                model.entities[entity].attributes[index].storage = attribute.storage ?? client.form(of: attribute.type)
            }
        }
        return model
    }
}
