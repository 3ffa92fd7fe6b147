/// The form in which values of a date, a UUID or a decimal are stored.
public enum StorageForm: String, Sendable, Hashable, Codable, CaseIterable {
    /// A date as TEXT: `YYYY-MM-DDTHH:MM:SS.SSSZ`, with as many digits of a second as the attribute's `fraction` says.
    case iso8601
    /// A date as TEXT, `YYYY-MM-DD HH:MM:SS.SSS` in UTC, as SQLite's functions, GRDB and Django write and compare it; also with more
    /// digits.
    case sqlite
    /// A date as INTEGER: whole seconds since 1970-01-01T00:00:00Z, milliseconds cut off.
    case unix
    /// A date as INTEGER: milliseconds since 1970-01-01T00:00:00Z.
    case unixMilliseconds
    /// A date as REAL: seconds since 1970-01-01T00:00:00Z, as Fluent writes it.
    case unixReal
    /// A date as REAL, seconds since 2001-01-01T00:00:00Z, as Core Data writes it.
    case referenceDate
    /// A date as REAL: the Julian day, as SQLite's `julianday()` gives it.
    case julianDay
    /// A day as TEXT.
    case day = "yyyy-MM-dd"
    /// A date as TEXT in UTC, as the pattern says: so are those that follow.
    case blankSeconds = "yyyy-MM-dd HH:mm:ss"
    /// A date as TEXT with microseconds, as Django and Rails write it: so are all with `Microseconds`.
    case blankMicroseconds = "yyyy-MM-dd HH:mm:ss.SSSSSS"
    /// A date as TEXT with nanoseconds.
    case blankNanoseconds = "yyyy-MM-dd HH:mm:ss.SSSSSSSSS"
    /// See ``blankSeconds``.
    case blankSecondsZ = "yyyy-MM-dd HH:mm:ss'Z'"
    /// See ``blankSeconds``.
    case blankMillisecondsZ = "yyyy-MM-dd HH:mm:ss.SSS'Z'"
    /// See ``blankMicroseconds``.
    case blankMicrosecondsZ = "yyyy-MM-dd HH:mm:ss.SSSSSS'Z'"
    /// A date as TEXT with the offset `+00:00`: so are all with `Offset`.
    case blankSecondsOffset = "yyyy-MM-dd HH:mm:ssxxx"
    /// See ``blankSecondsOffset``.
    case blankMillisecondsOffset = "yyyy-MM-dd HH:mm:ss.SSSxxx"
    /// See ``blankSecondsOffset``.
    case blankMicrosecondsOffset = "yyyy-MM-dd HH:mm:ss.SSSSSSxxx"
    /// See ``blankSeconds``.
    case isoSeconds = "yyyy-MM-dd'T'HH:mm:ss"
    /// See ``blankSeconds``.
    case isoMilliseconds = "yyyy-MM-dd'T'HH:mm:ss.SSS"
    /// See ``blankMicroseconds``.
    case isoMicroseconds = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
    /// See ``blankSeconds``.
    case isoSecondsZ = "yyyy-MM-dd'T'HH:mm:ss'Z'"
    /// See ``blankMicroseconds``.
    case isoMicrosecondsZ = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'"
    /// See ``blankNanoseconds``.
    case isoNanosecondsZ = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSSSS'Z'"
    /// See ``blankSecondsOffset``.
    case isoSecondsOffset = "yyyy-MM-dd'T'HH:mm:ssxxx"
    /// See ``blankSecondsOffset``.
    case isoMillisecondsOffset = "yyyy-MM-dd'T'HH:mm:ss.SSSxxx"
    /// See ``blankSecondsOffset``.
    case isoMicrosecondsOffset = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSxxx"
    /// A UUID in lower case, or a decimal with all its digits, as TEXT.
    case text
    /// A UUID as BLOB: its 16 bytes.
    case blob
    /// A UUID as TEXT in upper case.
    case uppercase
    /// A UUID as TEXT in lower case and braces.
    case braces
    /// A UUID as TEXT in upper case and braces.
    case uppercaseBraces
    /// A decimal as REAL: the nearest double.
    case real
}

extension StorageForm {
    /// The digits of a second that its dates have: 3, 6 or 9.
    package var fraction: Int { isPattern ? max(3, rawValue.count { $0 == "S" }) : 3 }

    /// The form with more digits of a second; nil for one that has no such form.
    package func withFraction(_ digits: Int) -> StorageForm? {
        switch (self, digits) {
        case (_, 3): self
        case (.iso8601, 6): .isoMicrosecondsZ
        case (.iso8601, 9): .isoNanosecondsZ
        case (.sqlite, 6): .blankMicroseconds
        case (.sqlite, 9): .blankNanoseconds
        default: nil
        }
    }

    /// True if it is the text of a date in the form of its pattern.
    package var isPattern: Bool { rawValue.hasPrefix(Self.day.rawValue) }

    /// True if it is the number of a date.
    package var isNumber: Bool { [.unix, .unixMilliseconds, .unixReal, .referenceDate, .julianDay].contains(self) }
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
        case .date:
            [.iso8601, .sqlite, .unix, .unixMilliseconds, .unixReal, .referenceDate, .julianDay]
                + StorageForm.allCases.filter(\.isPattern)
        case .uuid: [.text, .blob, .uppercase, .braces, .uppercaseBraces]
        case .decimal: [.text, .real]
        default: []
        }
    }
}

extension AttributeDescription {
    /// The form in which its values are stored; nil for the standard one, whether it is named or not.
    package var ownForm: StorageForm? {
        if type == .date, fraction > 3 { return (storage ?? .iso8601).withFraction(fraction) ?? storage }
        return storage == type.storageForms.first ? nil : storage
    }
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
