import Testing

@testable import ImportModel

/// Transformers and date options as attributes have them.
struct TransformedValueTests {
    private func attribute(_ type: AttributeType, _ names: [String]) -> AttributeDescription {
        AttributeDescription(name: "a", type: type, isOptional: true, transformers: names)
    }

    @Test func transformsStringsBeforeTheyAreCoerced() throws {
        for (json, type, names, outcome, notes) in [
            (#"" a ""#, AttributeType.string, ["trim"], Outcome.text("a"), CoercionNotes.transformed),
            (#""a""#, .string, ["trim"], .text("a"), []), (#""a\nb""#, .string, ["trim"], .text("a\nb"), []),
            (#""\ta\n""#, .string, ["trim", "uppercase"], .text("A"), .transformed),
            (#""&#49;2""#, .integer16, ["htmlUnescape"], .integer(12), [.transformed, .kindChanged]),
            (#""""#, .date, ["emptyToNull"], .null, .transformed),
            (#""1.50""#, .decimal, ["trim"], .text("1.5"), [.kindChanged, .respelled]),
            (#"" 1.5""#, .decimal, ["trim"], .text("1.5"), [.transformed, .kindChanged]),
            (#"" http://a ""#, .uri, ["trim"], .text("http://a"), .transformed),
            ("12", .string, ["emptyToNull"], .text("12"), .kindChanged),
            ("null", .string, ["trim"], .null, []), (#"" ""#, .string, ["trim", "emptyToNull"], .null, .transformed),
            (#"" Zg==""#, .binary, ["trim"], .blob([0x66]), .transformed),
        ] {
            let coerced = try coerce(json, to: attribute(type, names))
            #expect(coerced.outcome == outcome, "\(json) as \(type)")
            #expect(coerced.notes == notes, "\(json) as \(type)")
        }
        #expect(try coerce(#""a""#, to: attribute(.string, ["trim"])).isVerbatim)
        #expect(try coerce(#"" a""#, to: attribute(.string, ["trim"])).isVerbatim == false)
    }

    @Test func refusesNullsThatAreMadeWhereThereMustBeAValue() throws {
        var empty = attribute(.string, ["emptyToNull"])
        empty.isOptional = false
        #expect(try coerce(#""""#, to: empty).outcome == .error(.unexpectedNull))
        var date = AttributeDescription(name: "a", type: .date, formats: ["dotnet"])
        #expect(try coerce(#""/Date(-62135596800000)/""#, to: date).outcome == .error(.unexpectedNull))
        date.isOptional = true
        let coerced = try coerce(#""/Date(-62135596800000)/""#, to: date)
        #expect(coerced.outcome == .null && coerced.notes == .minimumDate)
    }

    @Test func looksAtRulesAfterTransforming() throws {
        var short = attribute(.string, ["trim"])
        short.validation.maximumLength = 1
        #expect(try coerce(#""  a  ""#, to: short).outcome == .text("a"))
        #expect(try coerce(#"" ab""#, to: short).outcome == .error(.tooLong))
    }

    @Test func takesTransformersOfTheLibrarysUsers() throws {
        var registry = TransformerRegistry()
        registry.register("reverse") { String($0.reversed()) }
        let reversed = attribute(.string, ["reverse"])
        #expect(try reversed.coerce(.string("abc"), transformers: registry).value == .text("cba"))
        let text = ModelDescription(entities: [EntityDescription(name: "E", attributes: [reversed])]).encoded()
        #expect(throws: ModelError.self) { try ModelDescription(parsing: Array(text.utf8)) }
        #expect(try ModelDescription(parsing: Array(text.utf8), transformers: registry).encoded() == text)
    }

    @Test func readsDatesAsTheModelSays() throws {
        var date = AttributeDescription(name: "a", type: .date, formats: ["iso8601", "dotnet", "dd/MM/yyyy"])
        #expect(try coerce(#""17/10/2014""#, to: date).outcome == .text("2014-10-17T00:00:00.000Z"))
        date.timeZone = "Europe/Berlin"
        #expect(try coerce(#""17/10/2014""#, to: date).outcome == .text("2014-10-16T22:00:00.000Z"))
        date.storage = .unix
        #expect(try coerce(#""\/Date(1413507251000)\/""#, to: date).outcome == .integer(1_413_507_251))
        date.validation.maximum = .string("01/01/2014")
        #expect(try coerce(#""17/10/2014""#, to: date).outcome == .error(.aboveMaximum))
        date.isWallClock = true
        date.validation = .init()
        #expect(try coerce(#""1970-01-01T01:00:00+01:00""#, to: date).outcome == .integer(3_600))
    }
}
