import TestSupport
import Testing

@testable import ImportModel

/// Forms in which UUIDs and decimals are stored; those of dates are in `DateCoercionTests`.
struct StorageFormTests {
    private static let bytes: [UInt8] = [
        0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF,
    ]

    @Test(arguments: [
        #""00112233-4455-6677-8899-aabbccddeeff""#, #""00112233-4455-6677-8899-AABBCCDDEEFF""#,
        #""{00112233-4455-6677-8899-aabbccddeeff}""#, #""urn:uuid:00112233-4455-6677-8899-aabbccddeeff""#,
        #""\u00300112233-4455-6677-8899-aabbccddeeff""#,
    ])
    func keepsTheBytesOfUUIDs(json: String) throws {
        let attribute = AttributeDescription(name: "a", type: .uuid, storage: .blob)
        let coerced = try coerce(json, to: attribute)
        #expect(coerced.outcome == .blob(Self.bytes))
        #expect(coerced.notes == [])
        #expect(attribute.text(ofBinary: Self.bytes) == "00112233-4455-6677-8899-aabbccddeeff")
    }

    @Test(arguments: ["\"x\"", "\"ABEiM0RVZneImaq7zN3u/w==\"", "1", "true", "[]"])
    func takesNothingElseForAUUID(json: String) throws {
        let error = try coerce(json, to: AttributeDescription(name: "a", type: .uuid, storage: .blob)).error
        #expect(try error == coerce(json, to: AttributeDescription(name: "a", type: .uuid)).error)
        #expect(error != nil)
    }

    @Test func countsTheDigitsThatADoubleLoses() throws {
        let attribute = AttributeDescription(name: "a", type: .decimal, storage: .real)
        let rows: [(String, Outcome, CoercionNotes)] = [
            ("12.50", .real(12.5), []), ("0.1", .real(0.1), []), ("\"7\"", .real(7), .kindChanged),
            ("12345678901234567890.12", .real(12_345_678_901_234_567_890.12), .digitsLost),
            ("9007199254740993", .real(9_007_199_254_740_992), .digitsLost),
        ]
        for (json, expected, notes) in rows {
            let coerced = try coerce(json, to: attribute)
            #expect(coerced.outcome == expected, "\(json)")
            #expect(coerced.notes == notes, "\(json)")
        }
        let error = CoercionError(code: .outOfRange, expected: "decimal", found: "number")
        #expect(try coerce("1e400", to: attribute).error == error)
    }

    @Test func readsDatesBack() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<2_000 {
            let milliseconds = Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &generator)
            var text: [UInt8] = []
            #expect(StoredDate.appendISO8601(milliseconds, to: &text))
            let iso = String(decoding: text, as: UTF8.self)
            for form in AttributeType.date.storageForms {
                let attribute = AttributeDescription(name: "a", type: .date, storage: form)
                guard let stored = try? attribute.coerce(.string(iso)).value else {
                    Issue.record("\(iso) as \(form)")
                    continue
                }
                let hasSeconds = form == .unix || form.isPattern && !form.rawValue.contains("S")
                let unit: Int64 = form == .day ? 86_400_000 : hasSeconds ? 1_000 : 1
                let whole = milliseconds % unit != 0
                #expect(whole || StoredDate.milliseconds(of: stored, storage: form) == milliseconds)
                let zeros = String(repeating: "0", count: form.fraction - 3)
                #expect(whole || StoredDate.text(of: stored, storage: form) == iso.dropLast() + zeros + "Z")
            }
        }
        for text in [
            "2024-01-02T03:04:05.678", "2024-01-02 03:04:05", "2024-01-02 03:04:05.678Z", "2024-13-02 03:04:05.678",
        ] {
            #expect(StoredDate.milliseconds(of: .text(text), storage: .sqlite) == nil, "\(text)")
        }
        // More digits than milliseconds: read, but not as what gives it back.
        #expect(StoredDate.milliseconds(of: .real(0.1234), storage: .referenceDate) == 978_307_200_123)
        #expect(StoredDate.text(of: .real(0.1234), storage: .referenceDate) == nil)
        #expect(StoredDate.milliseconds(of: .integer(1), storage: .referenceDate) == 978_307_201_000)
        for number in [Double.nan, .infinity, 1e300] {
            #expect(StoredDate.milliseconds(of: .real(number), storage: .referenceDate) == nil)
        }
    }

    @Test func standardFormsGoWithoutSaying() throws {
        for (type, form) in [(AttributeType.date, StorageForm.iso8601), (.uuid, .text), (.decimal, .text)] {
            let attribute = AttributeDescription(name: "a", type: type, storage: form)
            #expect(attribute.ownForm == nil && !AttributeRules.areNeeded(by: attribute))
            // What a model says counts more than what a library writes.
            let model = ModelDescription(entities: [EntityDescription(name: "e", attributes: [attribute])])
            #expect(model.stored(for: .grdb) == model)
        }
    }
}
