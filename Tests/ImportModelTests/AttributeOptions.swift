import TestSupport

@testable import ImportModel

extension AttributeDescription {
    /// Adds options that its type may have, and that go together.
    mutating func addOptions(using generator: inout SeededGenerator) {
        switch type {
        case .bitfield:
            let positions = (0...63).shuffled(using: &generator).prefix(Int.random(in: 1...64, using: &generator))
            bits = positions.enumerated().map { index, position in
                Bit(name: ["flag\(index)", "group.flag\(index)", "a.b.é\(index)"][index % 3], position: position)
            }
        case .binary:
            formats =
                [["base64"], ["base64url"], ["base64", "base64url"], ["uuid"], ["text"], []]
                .randomElement(using: &generator) ?? []
            validation = Validation(minimumLength: 1, maximumLength: Int.random(in: 1...9, using: &generator))
        case .string, .uri:
            transformers = [["trim", "lowercase"], []].randomElement(using: &generator) ?? []
            validation = Validation(
                minimumLength: 0,
                pattern: "^[a-z]+\\d*$",
                allowedValues: [.string("a"), .string("b1")]
            )
        case .integer16, .integer32, .integer64:
            validation = Validation(minimum: .number("-3"), maximum: .number("1e3"), allowedValues: [.string("7")])
        case .float, .double, .decimal:
            validation = Validation(minimum: .number("-0.5"), maximum: .string("12.50"))
        case .date:
            validation = Validation(minimum: .string("1970-01-01"), maximum: .string("2038-01-19T03:14:07Z"))
            formats =
                [["iso8601", "unix"], ["yyyy-MM-dd", "iso8601", "dotnet"], []].randomElement(using: &generator) ?? []
            timeZone = [nil, "Europe/Berlin"].randomElement(using: &generator) ?? nil
            isWallClock = Bool.random(using: &generator)
        case .uuid: isGenerated = true
        case .boolean: transformers = ["lowercase"]
        case .json: owner = .local
        }
        storage = type.storageForms.randomElement(using: &generator)
    }
}
