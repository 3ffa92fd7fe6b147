import TestSupport
import Testing

@testable import ImportModel

struct ValidationTests {
    private typealias Validation = AttributeDescription.Validation

    private func attribute(_ type: AttributeType, _ validation: Validation) -> AttributeDescription {
        AttributeDescription(name: "a", type: type, isOptional: true, validation: validation)
    }

    /// Coerces and gives the error's code; nil if the value is accepted.
    private func code(_ json: String, _ type: AttributeType, _ validation: Validation) throws -> CoercionError.Code? {
        try coerce(json, to: attribute(type, validation)).error?.code
    }

    @Test(arguments: [AttributeType.integer16, .integer32, .integer64, .float, .double, .decimal])
    func keepsNumbersWithinBounds(type: AttributeType) throws {
        let bounds = Validation(minimum: .number("-5"), maximum: .number("1e2"))
        for json in ["-5", "0", "100", "1e2", "\"7\"", "null"] {
            #expect(try code(json, type, bounds) == nil, "\(json)")
        }
        for json in ["-6", "-32768", "\"-7\""] { #expect(try code(json, type, bounds) == .belowMinimum, "\(json)") }
        for json in ["101", "32767"] { #expect(try code(json, type, bounds) == .aboveMaximum, "\(json)") }
    }

    @Test func comparesDecimalsExactly() throws {
        let bounds = Validation(
            minimum: .number("0.1000000000000000000000000000001"),
            maximum: .number("1e50")
        )
        #expect(try code("0.1", .decimal, bounds) == .belowMinimum)
        #expect(try code("0.1000000000000000000000000000001", .decimal, bounds) == nil)
        #expect(try code("0.10000000000000000000000000000010", .decimal, bounds) == nil)
        #expect(try code("100000000000000000000000000000000000000000000000000", .decimal, bounds) == nil)
        #expect(try code("100000000000000000000000000000000000000000000000001", .decimal, bounds) == .aboveMaximum)
        #expect(try code("-1e60", .decimal, bounds) == .belowMinimum)
    }

    /// Against doubles, which these short numbers do not overtax.
    @Test func ordersDecimalsAsNumbersAre() {
        var generator = SeededGenerator(seed: 31)
        for _ in 0..<3_000 {
            let (one, other) = (
                generator.numberText(digits: 6, exponent: 3), generator.numberText(digits: 6, exponent: 3)
            )
            let isLess = withView(one) { one in
                withView(other) { other in
                    JSONNumber(one).flatMap { one in JSONNumber(other).map { one.isLess(than: $0) } }
                }
            }
            #expect(isLess == ((Double(one) ?? .nan) < (Double(other) ?? .nan)), "\(one) < \(other)")
        }
    }

    @Test func comparesDatesAsInstants() throws {
        let bounds = Validation(minimum: .string("2014-10-17T02:00:00+02:00"), maximum: .string("2015-01-01"))
        #expect(try code(#""2014-10-17""#, .date, bounds) == nil)
        #expect(try code(#""2014-10-17T01:00:00+02:00""#, .date, bounds) == .belowMinimum)
        #expect(try code(#""2014-12-31T23:59:59-00:01""#, .date, bounds) == .aboveMaximum)
        #expect(try code(#""2015-01-01T00:00:00Z""#, .date, bounds) == nil)
    }

    @Test func countsScalarsOfTextAndBytesOfBinaries() throws {
        let lengths = Validation(minimumLength: 2, maximumLength: 3)
        for (json, expected) in [
            (#""é""#, CoercionError.Code.tooShort), (#""éé""#, nil), (#""😀😀😀""#, nil), (#""abcd""#, .tooLong),
            (#""e\u0301""#, nil), ("1", .tooShort), ("12", nil), (#""""#, .tooShort),
        ] {
            #expect(try code(json, .string, lengths) == expected, "\(json)")
        }
        #expect(try code(#""Zg==""#, .binary, lengths) == .tooShort)
        #expect(try code(#""Zm9v""#, .binary, lengths) == nil)
        #expect(try code(#""Zm9vYg==""#, .binary, lengths) == .tooLong)
    }

    @Test func looksForPatternsAnywhereUnlessTheySayOtherwise() throws {
        #expect(try code(#""xA1y""#, .string, Validation(pattern: "[A-Z]\\d")) == nil)
        #expect(try code(#""xA1y""#, .string, Validation(pattern: "^[A-Z]\\d$")) == .patternMismatch)
        #expect(try code(#""A1""#, .string, Validation(pattern: "^[A-Z]\\d$")) == nil)
        #expect(try code(#""é😀""#, .string, Validation(pattern: "^\\p{L}.$")) == nil)
        #expect(try code(#""a\u0000b""#, .string, Validation(pattern: "^a.b$")) == nil)
        #expect(try code(#""""#, .string, Validation(pattern: "")) == nil)
        // ICU's `$` precedes a line break at the end too, `\z` does not.
        #expect(try code(#""A1\n""#, .string, Validation(pattern: "^A1$")) == nil)
        #expect(try code(#""A1\n""#, .string, Validation(pattern: "^A1\\z")) == .patternMismatch)
        #expect(try code(#""ftp://a""#, .uri, Validation(pattern: "^https?:")) == .patternMismatch)
    }

    @Test func takesListedValuesOnly() throws {
        for (type, values, taken, refused) in [
            (
                AttributeType.string, [#""red""#, #""green""#, "1"], [#""red""#, #""gr\u0065en""#, #""1""#, "1"],
                [#""Red""#, #""""#]
            ),
            (.integer32, ["3", #""7""#, "-1"], ["3.0", "7", #""-1""#], ["4", "0"]),
            (.decimal, ["1.50", "2", "1e60"], ["1.5", "2.00", "10e59"], ["1.51"]),
            (.double, ["0.5", "1"], ["5e-1", "1.0"], ["0.51"]), (.boolean, ["true"], ["true", "1"], ["false"]),
            (.date, [#""2014-10-17""#], [#""2014-10-17T00:00:00Z""#], [#""2014-10-18""#]),
            (
                .uuid, [#""F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6""#], [#""f81d4fae-7dec-11d0-a765-00a0c91e6bf6""#],
                [#""f81d4fae-7dec-11d0-a765-00a0c91e6bf7""#]
            ),
            (.binary, [#""Zg==""#], [#""Zg""#], [#""Zm8""#]),
        ] {
            let allowed = try Validation(allowedValues: values.map { try JSONValue(parsing: Array($0.utf8)) })
            for json in taken + ["null"] { #expect(try code(json, type, allowed) == nil, "\(json) as \(type)") }
            for json in refused { #expect(try code(json, type, allowed) == .notAllowed, "\(json) as \(type)") }
        }
    }

    @Test func findsEachOfManyValues() throws {
        let numbers = (0..<300).map { $0 * 7 - 1_000 }
        let allowed = Validation(allowedValues: numbers.shuffled().map { .number("\($0)") })
        for type in [AttributeType.string, .integer64, .decimal] {
            let coercion = try AttributeCoercion(attribute(type, allowed))
            for number in -1_010...1_110 {
                let isTaken = JSONValue.number("\(number)").isTaken(by: coercion)
                #expect(isTaken == numbers.contains(number), "\(number) as \(type)")
            }
        }
    }

    @Test func saysWhatTheRuleIsButNeverTheValue() throws {
        func error(_ json: String, _ type: AttributeType, _ validation: Validation) throws -> CoercionError? {
            try coerce(json, to: attribute(type, validation)).error
        }
        #expect(
            try error(#""ab""#, .string, Validation(minimumLength: 3))
                == CoercionError(code: .tooShort, expected: "at least 3 characters", found: "string")
        )
        #expect(
            try error("12", .integer16, Validation(maximum: .number("9")))
                == CoercionError(code: .aboveMaximum, expected: "at most 9", found: "number")
        )
        #expect(
            try error(#""secret""#, .string, Validation(allowedValues: [.string("a"), .number("1")]))
                == CoercionError(code: .notAllowed, expected: "one of a, 1", found: "string")
        )
        #expect(
            try error(#""secret""#, .string, Validation(pattern: "^a$"))
                == CoercionError(code: .patternMismatch, expected: "text that matches ^a$", found: "string")
        )
    }

    @Test func leavesNoNotesOfWhatItRefuses() throws {
        let coerced = try coerce(#"" 12 ""#, to: attribute(.integer16, Validation(maximum: .number("9"))))
        #expect(coerced.error != nil && coerced.notes == [])
    }

    @Test func looksAtRulesAfterTheTypeItself() throws {
        #expect(try code("\"x\"", .integer16, Validation(maximum: .number("9"))) == .wrongForm)
        #expect(try code("40000", .integer16, Validation(maximum: .number("9"))) == .outOfRange)
    }
}

extension JSONValue {
    fileprivate func isTaken(by coercion: AttributeCoercion) -> Bool {
        do throws(CoercionError) {
            return try withToken(expecting: coercion.type) { token throws(CoercionError) -> Bool in
                var scratch: [UInt8] = []
                var notes: CoercionNotes = []
                _ = try coercion.coerce(token, scratch: &scratch, notes: &notes)
                return true
            }
        } catch {
            return false
        }
    }
}
