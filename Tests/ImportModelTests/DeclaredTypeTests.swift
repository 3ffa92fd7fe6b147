import TestSupport
import Testing

@testable import ImportModel

/// Columns of tables that no model describes.
struct DeclaredTypeTests {
    private func attribute(_ declared: String, _ rows: [CoercedJSON] = [], isStrict: Bool = false)
        -> AttributeDescription
    {
        DeclaredType(declared, isStrict: isStrict).attribute("a", ColumnSample(rows))
    }

    @Test(arguments: [
        ("INT", "integer64"), ("bigint", "integer64"), ("UNSIGNED BIG INT", "integer64"), ("INT8", "integer64"),
        ("TINYINT(1)", "integer64"), ("BOOLEAN", "boolean"), ("bool", "boolean"), ("DOUBLE PRECISION", "double"),
        ("FLOAT", "double"), ("REAL", "double"), ("VARCHAR(20)", "string json"), ("nvarchar", "string json"),
        ("CLOB", "string json"), ("NATIVE CHARACTER(70)", "string json"), ("Json", "json"), ("JSONB", "json"),
        ("UNIQUEIDENTIFIER", "uuid"), ("guid", "uuid"), ("BLOB", "binary"), ("", "binary any"),
        ("ANY", "binary numeric"),
        ("DECIMAL(10,2)", "binary decimal"), ("numeric", "binary decimal"), ("MONEY", "binary decimal"),
        ("STRING", "binary numeric"), ("ENUM('a')", "binary numeric"), ("POINT", "binary numeric"),
        ("INTERVAL", "binary numeric"), ("INET", "binary numeric"), ("TIME", "binary numeric"),
    ])
    func givesTheType(declared: String, expected: String) {
        let attribute = attribute(declared)
        #expect(([attribute.type.rawValue] + attribute.formats).joined(separator: " ") == expected)
    }

    @Test func anyIsATypeOfStrictTables() {
        #expect(attribute("any", isStrict: true).formats == ["any"])
    }

    @Test(
        arguments: [
            ([], "2015-01-31", "2015-01-31 12:00:00.000"),
            ([.text("2015-01-31")], "2015-01-31", "2015-01-31"),
            ([.text("2015-01-31 00:00:00.000")], "2015-01-31 00:00:00.000", "2015-01-31 12:00:00.000"),
            ([.text("2015-01-31 00:00:00")], "2015-01-31 00:00:00", "2015-01-31 12:00:00"),
            (
                [.text("2015-01-31 00:00:00.123456"), .text("2015-01-31 00:00:00"), .text("2015-01-31 00:00:00.1234")],
                "2015-01-31 00:00:00.000000", "2015-01-31 12:00:00.000000"
            ),
            ([.text("2015-01-31T00:00:00Z")], "2015-01-31T00:00:00Z", "2015-01-31T12:00:00Z"),
            ([.text("2015-01-31T00:00:00.000Z")], "2015-01-31T00:00:00.000Z", "2015-01-31T12:00:00.000Z"),
            ([.text("2015-01-31T00:00:00+02:00")], "2015-01-31T00:00:00+00:00", "2015-01-31T12:00:00+00:00"),
            ([.integer(1_577_836_800)], "1422662400", "1422705600"),
            ([.integer(1_577_836_800_000)], "1422662400000", "1422705600000"),
            ([.real(1_577_836_800.5)], "1422662400.0", "1422705600.0"),
            ([.real(2_457_053.25)], "2457053.5", "2457054.0"),
            ([.real(600_000_000.5)], "444355200.0", "444398400.0"),
        ] as [([CoercedJSON], String, String)]
    )
    func storesDatesAsTheRowsAre(rows: [CoercedJSON], day: String, date: String) throws {
        for declared in ["DATE", "timestamp"] where declared != "timestamp" || !rows.isEmpty {
            #expect(text(try attribute(declared, rows).coerce(.string("2015-01-31")).value) == day)
        }
        #expect(text(try attribute("DATETIME", rows).coerce(.string("2015-01-31T12:00:00Z")).value) == date)
    }

    @Test func aDayHasNoTime() throws {
        let result = try attribute("DATE").coerce(.string("2015-01-31T23:30:00-05:00"))
        #expect(result.value == .text("2015-01-31"))
        #expect(result.ledger.contains(.digitsLost) && result.ledger.contains(.timeZoneLost))
        #expect(attribute("DATE", [.text("soon"), .text("2015-01-31"), .text("later")]).formats == ["numeric"])
    }

    @Test(
        arguments: [
            ([], "61f0c404-5cb3-11e7-907b-a6006ad3dba0"),
            ([.text("61F0C404-5CB3-11E7-907B-A6006AD3DBA1")], "61F0C404-5CB3-11E7-907B-A6006AD3DBA0"),
            ([.text("{61f0c404-5cb3-11e7-907b-a6006ad3dba1}")], "{61f0c404-5cb3-11e7-907b-a6006ad3dba0}"),
            ([.text("{61F0C404-5CB3-11E7-907B-A6006AD3DBA1}")], "{61F0C404-5CB3-11E7-907B-A6006AD3DBA0}"),
            ([.blob([UInt8](repeating: 1, count: 16))], "16 bytes"),
            ([.text("no UUID")], "61F0C404-5cb3-11e7-907b-a6006ad3dba0"),
        ] as [([CoercedJSON], String)]
    )
    func storesUUIDsAsTheRowsAre(rows: [CoercedJSON], expected: String) throws {
        let value = JSONValue.string("61F0C404-5cb3-11e7-907b-a6006ad3dba0")
        #expect(text(try attribute("uuid", rows).coerce(value).value) == expected)
    }

    @Test(arguments: [
        ("\"x\"", "x", false), ("\"007\"", "007", true), ("\"7\"", "7", false), ("\"2.50\"", "2.50", true),
        ("\"12e456\"", "12e456", true), ("\"12345678901234567890\"", "12345678901234567890", true),
        ("\" 7\"", " 7", true), ("\"0x10\"", "0x10", false), ("\"inf\"", "inf", false), ("7", "7", false),
        ("1.5", "1.5", false), ("12345678901234567890", "1.2345678901234567e+19", true), ("true", "1", false),
        (#"{"k": [1]}"#, #"{"k":[1]}"#, false),
    ])
    func countsWhatNumericAffinityChanges(json: String, expected: String, isLoss: Bool) throws {
        let value = try JSONValue(parsing: Array(json.utf8))
        let result = try attribute("STRING").coerce(value)
        #expect(text(result.value) == expected)
        #expect(result.ledger.contains(.digitsLost) == isLoss)
        #expect(text(try attribute("").coerce(value).value) == expected)
    }

    @Test func decimalsLoseNoZeros() throws {
        for text in ["2.50", "007", "x"] {
            #expect(try attribute("DECIMAL").coerce(.string(text)).ledger == [])
        }
        #expect(try attribute("DECIMAL").coerce(.string("0.12345678901234567890123")).ledger == [.digitsLost])
    }

    @Test func aTextTakesAllKinds() throws {
        let rows = [("{\"a\": 1}", "{\"a\":1}"), ("[1, 2]", "[1,2]"), ("1.50", "1.50"), ("true", "true")]
        for (json, expected) in rows {
            let result = try attribute("TEXT").coerce(JSONValue(parsing: Array(json.utf8)))
            #expect(result.value == .text(expected))
            #expect(result.ledger == [.kindChanged])
        }
    }

    private func text(_ value: CoercedJSON) -> String {
        switch value {
        case .null: "null"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): text
        case .blob(let bytes): "\(bytes.count) bytes"
        }
    }
}

/// Which keys mean which columns.
struct ColumnMatcherTests {
    @Test(arguments: [
        (["id"], ["id"], 0, 0), (["id"], ["ID"], 0, 1), (["CountryCode"], ["country_code"], 0, 2),
        (["country_code"], ["countryCode"], 0, 2), (["country_code"], ["CountryCode"], 0, 2),
        (["Country Code"], ["country-code"], 0, 2), (["html_body"], ["HTMLBody"], 0, 2), (["line1"], ["line_1"], 0, 2),
        (["geo_lat"], ["geo", "lat"], 0, 0), (["geoLat"], ["geo", "lat"], 0, 2), (["x", "Über"], ["über"], 1, 1),
        (["x"], ["y"], -1, 0), (["country_code", "countryCode"], ["CountryCode"], 1, 1),
        (["country_code", "country__code"], ["countryCode"], -1, 0), (["countrycode"], ["country_code"], -1, 0),
    ])
    func findsTheColumn(columns: [String], keys: [String], index: Int, nearness: Int) {
        let found = ColumnMatcher(columns).column(for: keys)
        #expect(found?.index ?? -1 == index)
        #expect(found?.nearness.rawValue ?? 0 == nearness)
    }
}
