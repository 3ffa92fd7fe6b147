import Foundation
import TestSupport
import Testing

/// The model that `infer` prints: a type only where every value survives it.
struct InferenceTests {
    /// What the values of one attribute make of it; a value of nil leaves the key out.
    struct Kind: Sendable, CustomTestStringConvertible {
        let values: [String?]
        let type: String
        var isOptional = false

        var testDescription: String { values.map { $0 ?? "-" }.joined(separator: " ") }
    }

    static let kinds: [Kind] = [
        Kind(values: ["1", "-9223372036854775808", "9223372036854775807"], type: "integer64"),
        Kind(values: ["1", "9223372036854775808"], type: "decimal"),
        Kind(values: ["-9223372036854775809", "12345678901234567890.5"], type: "decimal"),
        Kind(values: ["1.5", "2.25e3", "-0.1"], type: "double"),
        Kind(values: ["true", "false"], type: "boolean"),
        Kind(values: ["true", "1"], type: "json"),
        Kind(values: ["true", "\"true\""], type: "json"),
        Kind(values: ["\"x\"", "\"\""], type: "string"),
        Kind(values: ["\"x\"", "5", "5.50"], type: "string"),
        Kind(values: ["\"0b4bf1b8-2b2e-4d6c-8f8e-5a0e7a0d9f11\"", nil], type: "uuid", isOptional: true),
        Kind(values: ["\"0B4BF1B8-2B2E-4D6C-8F8E-5A0E7A0D9F11\""], type: "string"),
        Kind(values: ["\"0b4bf1b8-2b2e-4d6c-8f8e-5a0e7a0d9f11\"", "\"x\""], type: "string"),
        Kind(values: ["\"2024-02-29T23:59:59Z\"", "\"1999-01-01T00:00:00.123Z\""], type: "date"),
        Kind(values: ["\"2024-02-29T23:59:59+02:00\""], type: "string"),
        Kind(values: ["\"2024-02-29T23:59:59.123456Z\""], type: "date"),
        Kind(values: ["\"2023-02-29T23:59:59Z\""], type: "string"),
        Kind(values: ["\"2024-02-29T23:59:59Z\"", "\"soon\""], type: "string"),
        Kind(values: ["\"2024-02-29T23:59:59Z\"", "5"], type: "string"),
        Kind(values: ["[1]", "[]"], type: "json"),
        Kind(values: ["{\"b\":1}", "5"], type: "json"),
        Kind(values: ["{\"b\":1}", "{}"], type: "json"),
        Kind(values: ["{\"b\":1}", "[{\"b\":2}]"], type: "json"),
        Kind(values: ["\"\\ud800\"", "\"x\""], type: "json"),
        Kind(values: ["1", "null"], type: "integer64", isOptional: true),
        Kind(values: [nil, "1.5"], type: "double", isOptional: true),
    ]

    private func infer(_ source: String, in directory: TemporaryDirectory) throws -> (
        attributes: [String: Any], text: String
    ) {
        let path = try directory.write(source, to: "things.json")
        let result = try runImporter("infer", path)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let model = try JSONSerialization.jsonObject(with: result.output) as? [String: Any]
        let entities = try #require(model?["entities"] as? [String: Any])
        let entity = try #require(entities["things"] as? [String: Any])
        return (try #require(entity["attributes"] as? [String: Any]), result.outputText)
    }

    @Test(arguments: kinds)
    func givesTheNarrowestTypeThatLosesNothing(_ kind: Kind) throws {
        for values in [kind.values, kind.values.reversed()] {
            let directory = try TemporaryDirectory()
            let records = values.enumerated().map { index, value in
                "{\"n\":\(index)" + (value.map { ",\"a\":\($0)" } ?? "") + "}"
            }
            let attributes = try infer("[" + records.joined(separator: ",") + "]", in: directory).attributes
            let attribute = try #require(attributes["a"] as? [String: Any])
            #expect(attribute["type"] as? String == kind.type)
            #expect(attribute["optional"] as? Bool ?? false == kind.isOptional)
        }
    }

    @Test func makesColumnsOfObjectsInTheOrderOfTheirKeys() throws {
        let directory = try TemporaryDirectory()
        let (attributes, text) = try infer(
            """
            [{"id":1,"address":{"city":"a","geo":{"lat":1.5}},"z":1,"b":2},
             {"late":true,"id":2,"address":{"zip":"1","city":"b","geo":{"lat":2.5}},"z":1,"b":2}]
            """,
            in: directory
        )
        let order = ["id", "address_city", "address_geo_lat", "z", "b"]
        #expect(Set(attributes.keys).isSuperset(of: order + ["late", "address_zip"]))
        let places = order.compactMap { text.range(of: "\"\($0)\"")?.lowerBound }
        #expect(places.count == order.count && places == places.sorted())
        let zip = try #require(attributes["address_zip"] as? [String: Any])
        #expect(zip["from"] as? String == "address.zip" || zip["from"] as? [String] == ["address.zip"])
        #expect(zip["optional"] as? Bool == true)
    }

    @Test func keepsADictionaryAsItIs() throws {
        let directory = try TemporaryDirectory()
        let records = (0..<50).map { index in
            "{\"id\":\(index),\"byDay\":{\"2024-01-\(10 + index % 20)\":\(index),\"2024-02-\(10 + index % 15)\":1}}"
        }
        let attributes = try infer("[" + records.joined(separator: ",") + "]", in: directory).attributes
        #expect((attributes["byDay"] as? [String: Any])?["type"] as? String == "json")
        #expect(attributes.count == 2)
    }

    @Test func keepsTheTableFromBecomingAbsurdlyWide() throws {
        let directory = try TemporaryDirectory()
        let records = (0..<30).map { record in
            "{" + (0..<100).map { "\"field\(record)x\($0)\":{\"p\":\($0),\"q\":\"\(record)\"}" }.joined(separator: ",")
                + "}"
        }
        let source = try directory.write("[" + records.joined(separator: ",") + "]", to: "things.json")
        let store = directory.path("store.sqlite")
        let result = try runImporter("import", source, "--into", store)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let model = try directory.write(runImporter("infer", source).output, to: "model.json")
        let compared = try Python.run("roundtrip.py", [store, model, source])
        #expect(compared.ending == .exit(0), "\(compared.outputText) \(compared.errorText)")
    }
}
