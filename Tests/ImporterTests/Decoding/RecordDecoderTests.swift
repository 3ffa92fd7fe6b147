import ImportModel
import Importer
import TestSupport
import Testing

struct RecordDecoderTests {
    private static let attributes = """
        "id": {"type": "integer64"},
        "name": {"type": "string", "optional": true},
        "price": {"type": "double", "optional": true, "from": ["offer.price", "price"]},
        "city": {"type": "string", "optional": true, "from": ["address.city"]},
        "tags": {"type": "json", "optional": true}
        """

    private func plan() throws -> EntityPlan { try EntityPlan(attributes: Self.attributes) }

    private func decoder(_ plan: EntityPlan, onError: ErrorPolicy = .reject) -> RecordDecoder {
        RecordDecoder(plan: plan, JobOptions(onError: onError))
    }

    /// The entity decides what is looked up and in what order; what the record does not mention is missing, not null.
    @Test(
        arguments: [
            (#"{"id": 1}"#, ["1", nil, nil, nil, nil]),
            (#"{"name": null, "id": 1}"#, ["1", "null", nil, nil, nil]),
            (#"{"tags": [1, {"a": 2}], "name": "a\tb", "id": "7"}"#, ["7", "'a\tb'", nil, nil, #"'[1,{"a":2}]'"#]),
            // The first path that the record fills.
            (#"{"price": 2, "id": 1, "offer": {"price": 1.5}}"#, ["1", nil, "1.5", nil, nil]),
            (#"{"price": 2, "id": 1, "offer": {"cost": 1.5}}"#, ["1", nil, "2.0", nil, nil]),
            (#"{"price": 2, "id": 1, "offer": {"price": null}}"#, ["1", nil, "null", nil, nil]),
            // What is above an attribute and no object says that there is nothing.
            (#"{"id": 1, "address": null}"#, ["1", nil, nil, "null", nil]),
            (#"{"id": 1, "address": {}}"#, ["1", nil, nil, nil, nil]),
            // The last of several keys counts, with all that is below it.
            (#"{"id": 1, "address": {"city": "A"}, "address": {}}"#, ["1", nil, nil, nil, nil]),
            (#"{"id": 1, "\u0069d": 2}"#, ["2", nil, nil, nil, nil]),
        ] as [(String, [String?])]
    )
    func looksEachAttributeUp(record: String, row: [String?]) throws {
        let plan = try plan()
        var decoder = decoder(plan)
        let decoded = DecodedRecords([record], by: &decoder)
        #expect(decoded.rows(of: plan) == [row])
        #expect(decoded.batch.rejects.isEmpty)
    }

    /// All errors of a record, each where its value begins; its row is not there, and nothing of it stays behind.
    @Test func aRejectHasAllErrorsAndNoRow() throws {
        let plan = try plan()
        var decoder = decoder(plan)
        let bad = #"{"id": "x", "name": "a\nb", "offer": {"price": "two"}, "address": {"city": ["A"]}}"#
        let records = [#"{"id": 1, "name": "a\nb"}"#, bad, #"{"id": 3, "name": "c\nd"}"#]
        let decoded = DecodedRecords(records, by: &decoder)
        let batch = decoded.batch
        #expect(decoded.rows(of: plan).map(\.first) == ["1", "3"])
        #expect(batch.rows.map(\.ordinal) == [1, 3])
        // The texts that had to be rewritten, of rows alone.
        #expect(batch.bytes == Array("a\nbc\nd".utf8))
        let reject = try #require(batch.rejects.first)
        #expect(batch.rejects.count == 1)
        #expect(reject.ordinal == 2)
        #expect(reject.bytes == Array(bad.utf8))
        let source = String(decoding: decoded.chunk, as: UTF8.self)
        func offset(_ text: String) -> Int64 {
            Int64(source.range(of: text).map { source.utf8.distance(from: source.startIndex, to: $0.lowerBound) } ?? -1)
        }
        #expect(reject.byteOffset == offset(bad))
        #expect(reject.errors.map(\.keyPath) == ["id", "offer.price", "address.city"])
        #expect(reject.errors.map(\.byteOffset) == [offset("\"x\""), offset("\"two\""), offset("[\"A\"]")])
    }

    /// A value that does not fit is null where that was asked for and may be, and is counted by its attribute.
    @Test func aMisfitIsNullWhereItMayBe() throws {
        let plan = try plan()
        var decoder = decoder(plan, onError: .null)
        let records = [#"{"id": 1, "price": "x", "city": 2}"#, #"{"id": "x", "price": "y"}"#]
        let decoded = DecodedRecords(records, by: &decoder)
        #expect(decoded.rows(of: plan) == [["1", nil, "null", nil, nil]])
        #expect(decoded.batch.rejects.map(\.ordinal) == [2])
        let ledger = zip(decoded.batch.ledger.keys, decoded.batch.ledger.counts).map {
            "\($0.kind) \($0.attribute.text) \($1)"
        }
        // Of a record that is rejected, only its errors are counted.
        #expect(ledger.sorted() == ["nulled price 1", "unknownKey city 1"])
    }

    /// What a record lacks that may turn out to be a merge is an error only when it turns out to be an insert.
    @Test(arguments: [ConflictPolicy.merge, .ignore, .replace, .error])
    func whatIsMissingWaitsForTheStore(onConflict: ConflictPolicy) throws {
        let attributes = #""key": {"type": "string"}, "must": {"type": "integer64"}"#
        let plan = try EntityPlan(attributes: attributes, identifier: ["key"], onConflict: onConflict)
        var decoder = decoder(plan)
        let records = [#"{"key": "a", "must": 1}"#, #"{"key": "b"}"#, #"{"must": 2}"#, "{}"]
        let batch = DecodedRecords(records, by: &decoder).batch
        let mayMerge = onConflict == .merge || onConflict == .ignore
        #expect(batch.rows.map(\.ordinal) == (mayMerge ? [1, 2] : [1]))
        #expect(batch.rows.map(\.insertReject) == (mayMerge ? [-1, 0] : [-1]))
        #expect(batch.insertRejects.map(\.ordinal) == (mayMerge ? [2] : []))
        #expect(batch.rejects.map(\.ordinal) == (mayMerge ? [3, 4] : [2, 3, 4]))
        // Also what would only be missed later belongs to a record that is rejected now.
        #expect(batch.rejects.last?.errors.map(\.keyPath).sorted() == ["key", "must"])
    }

    // MARK: One record after the other

    private static func records(_ count: Int, seed: UInt64) -> [String] {
        var random = SeededGenerator(seed: seed)
        let members = [
            #""id": 7"#, #""id": "x""#, #""id": 8"#, #""name": "n""#, #""name": "\u00e9""#, #""name": null"#,
            #""offer": {"price": 1.5, "name": 2}"#, #""offer": 3"#, #""offer": {}"#, #""price": "1.25""#,
            #""address": {"city": "A"}"#, #""address": [1]"#, #""address": {"city": {}}"#, #""tags": {"id": 1}"#,
            #""other": {"city": 1}"#, #""\u0069d": 9"#,
        ]
        return (0..<count).map { _ in
            let count = random.next(8)
            return "{\((0..<count).map { _ in members[random.next(members.count)] }.joined(separator: ", "))}"
        }
    }

    /// Rows, rejects and counts as text.
    private func text(_ decoded: DecodedRecords, _ plan: EntityPlan) -> (
        rows: [String], rejects: [String], ledger: Int64
    ) {
        let batch = decoded.batch
        return (
            decoded.rows(of: plan).map { "\($0)" },
            batch.rejects.map { "\(String(decoding: $0.bytes, as: UTF8.self)) \($0.errors.map(\.keyPath))" },
            batch.ledger.counts.reduce(0, +)
        )
    }

    /// A record's row depends on nothing that came before, and not on how many have come before either.
    @Test(arguments: [ErrorPolicy.reject, .null], [0, UInt32.max - 100])
    func nothingOfOneRecordIsInTheNext(onError: ErrorPolicy, generation: UInt32) throws {
        let plan = try plan()
        let records = Self.records(300, seed: 5)
        var one = decoder(plan, onError: onError)
        one.generation = generation
        let together = text(DecodedRecords(records, by: &one), plan)
        var alone: (rows: [String], rejects: [String], ledger: Int64) = ([], [], 0)
        for record in records {
            var fresh = decoder(plan, onError: onError)
            let next = text(DecodedRecords([record], by: &fresh), plan)
            alone.rows += next.rows
            alone.rejects += next.rejects
            alone.ledger += next.ledger
        }
        try #require(together.rows.count > 20 && together.rejects.count > 20 && together.ledger > 20)
        #expect(together.rows == alone.rows)
        #expect(together.rejects == alone.rejects)
        #expect(together.ledger == alone.ledger)
    }
}
