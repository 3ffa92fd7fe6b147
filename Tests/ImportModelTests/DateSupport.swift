import TestSupport

@testable import ImportModel

/// Coerces one JSON value, given as its text, as a record's token would be.
func coerce(_ json: String, with dates: DateCoercion) -> Coerced {
    coerce(json) { token, scratch, notes throws(CoercionError) in
        try dates.coerce(token, scratch: &scratch, notes: &notes)
    }
}

extension DateCoercion {
    /// A coercion with the formats of these names.
    init(
        _ formats: String...,
        timeZone: String? = nil,
        isWallClock: Bool = false,
        storage: StorageForm = .iso8601
    ) throws {
        try self.init(
            formats: formats.map { try DateFormat($0) },
            timeZone: timeZone,
            isWallClock: isWallClock,
            storage: storage
        )
    }
}
