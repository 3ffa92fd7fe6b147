import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

/// What becomes of values that do not fit, or only with a loss.
struct MisfitTests {
    private func run(
        _ records: String,
        attributes: String,
        identifier: String = "[]",
        _ change: (inout JobOptions) -> Void
    ) throws -> (LibraryImport, ImportReport) {
        let job = try LibraryImport(records)
        let identifier = identifier == "[]" ? "" : "\"identifier\": \(identifier),"
        let model = "{\"entities\": {\"item\": {\"records\": \"$[*]\", \(identifier) \"attributes\": {\(attributes)}}}}"
        var options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
        change(&options)
        let report = try job.pipeline(options, RunOptions(commitEvery: 2)).run().report
        #expect(try StoreInspection(store: job.store).verify().allSatisfy(\.holds))
        return (job, report)
    }

    private func rejects(_ job: LibraryImport) throws -> [StoreInspection.Reject] {
        var rejects: [StoreInspection.Reject] = []
        try StoreInspection(store: job.store).forEachReject { rejects.append($0) }
        return rejects
    }

    private static let attributes = """
        "id": {"type": "integer64"},
        "price": {"type": "double", "from": ["offer.price"], "optional": true},
        "day": {"type": "date", "optional": true},
        "name": {"type": "string", "optional": true}
        """

    /// All unknown flags of a value, each at its path; one error where the value becomes null, as verify counts it.
    @Test(arguments: [ErrorPolicy.reject, .null])
    func flagsAreErrorsOfTheirOwn(onError: ErrorPolicy) throws {
        let attributes = """
            "id": {"type": "integer64"},
            "rights": {"type": "bitfield", "optional": true, "bits": {"read": 0, "write": 1}}
            """
        let records = #"[{"id": 1, "rights": {"x": true, "read": 2, "y": 1}}, {"id": "b", "rights": {"z": 1}}]"#
        let (job, report) = try run(records, attributes: attributes) { $0.onError = onError }
        #expect(report.rejected == (onError == .null ? 1 : 2))
        let paths = try rejects(job).map { $0.errors.map(\.keyPath) }
        #expect(paths.last == ["id", "rights.z"])
        if onError == .reject { #expect(paths.first == ["rights.x", "rights.read", "rights.y"]) }
    }

    @Test func aLossIsAnErrorWithItsPathAndPlace() throws {
        let records = """
            [{"id": 1, "offer": {"price": 1.5}, "day": "2024-01-01T00:00:00Z", "name": "a"},
             {"id": 2, "offer": {"price": 12345678901234567890}, "name": "b"},
             {"id": " 3 ", "offer": {"price": "0.5"}, "name": 7},
             {"id": 4, "offer": {"price": 1e-999}, "day": "2024-01-01T01:00:00.0000001+01:00", "name": "\\ud800"},
             {"id": 5, "name": "a", "offer": {"price": 1}, "name": "b"},
             {"id": 6, "offer": {"price": 1}, "offer": {"price": 2}},
             {"id": 7, "extra": 1, "extra": 2}]
            """
        let (job, report) = try run(records, attributes: Self.attributes) { $0.isLossless = true }
        #expect(report.inserted == 3)
        #expect(report.rejected == 4)
        let found = try rejects(job).map { reject in
            reject.errors.map { error in
                let place = records.utf8.index(records.startIndex, offsetBy: Int(error.byteOffset))
                let value = records[place...].prefix(6)
                return
                    "\(reject.ordinal) \(error.keyPath) \(error.code.rawValue) \(error.expected): \(error.found) @\(value)"
            }
        }
        #expect(
            found == [
                ["2 offer.price lossy double: number with more digits than double holds @123456"],
                [
                    "4 offer.price lossy double: number with more digits than double holds @1e-999",
                    "4 day lossy date: date with an offset @\"2024-",
                    "4 name lossy string: string with a lone surrogate @\"\\ud80",
                ],
                ["5 name lossy string: key given twice @\"b\"},\n"],
                ["6 offer lossy object: key given twice @{\"pric"],
            ]
        )
        let kinds = Set(report.ledger.values.flatMap(\.values).flatMap(\.keys).compactMap(LedgerKind.init))
        #expect(kinds.filter(\.isLoss).isEmpty)
        #expect(kinds == [.kindChanged, .trimmed, .respelled, .unknownKey])
    }

    @Test func withoutLosslessTheSameIsTaken() throws {
        let records = #"[{"id": 1, "offer": {"price": 12345678901234567890}, "name": "a", "name": "\udc00"}]"#
        let (_, report) = try run(records, attributes: Self.attributes) { _ in }
        #expect(report.inserted == 1)
        #expect(report.errors.isEmpty)
        #expect(report.ledger["item"]?["price"] == ["digitsLost": 1])
    }

    @Test func whatIsNotedOfARejectIsNotCounted() throws {
        let records = """
            [{"id": " 1 ", "day": "2024-01-01", "name": 7},
             {"id": "x", "day": "2024-01-01", "offer": {"price": "0.5"}, "name": 7},
             {"id": 3},
             {"id": 4, "day": "2024-01-01"}]
            """
        let (_, report) = try run(records, attributes: Self.attributes) { _ in }
        #expect(report.rejected == 1)
        let id = ["kindChanged": Int64(1), "trimmed": 1]
        #expect(report.ledger["item"] == ["id": id, "day": ["respelled": 2], "name": ["kindChanged": 1]])
    }

    @Test(arguments: [false, true])
    func aMisfitIsNullWhereThatMayBe(isLossless: Bool) throws {
        let records = """
            [{"id": 1, "offer": {"price": "x"}, "day": 5, "name": {}},
             {"id": "x", "offer": {"price": "x"}},
             {"id": 3, "offer": {"price": 12345678901234567890}, "name": "a", "name": "b"},
             {"id": 4, "offer": {"price": "x"}},
             [1],
             {"offer": {"price": "y"}}]
            """
        let (job, report) = try run(records, attributes: Self.attributes) {
            $0.onError = .null
            $0.isLossless = isLossless
        }
        let rows = try StoreContent.query(
            job.store,
            "SELECT id, ifnull(price, '-'), ifnull(day, '-'), ifnull(name, '-') FROM item"
        )
        let third = isLossless ? "3|-|-|-" : "3|1.2345678901234567e+19|-|b"
        #expect(rows == "1|-|-|-\n\(third)\n4|-|-|-")
        let nulled = report.ledger["item"]?.compactMapValues { $0["nulled"] }
        #expect(nulled == ["price": isLossless ? 3 : 2, "day": 1, "name": isLossless ? 2 : 1])
        // A reject has all of its errors, and none of them is a null.
        let paths = try rejects(job).map { $0.errors.map(\.keyPath) }
        #expect(paths == [["id", "offer.price"], [""], ["id", "offer.price"]])
        let prices = report.errors.filter { $0.keyPath == "offer.price" && $0.code == "wrongForm" }
        #expect(prices.map(\.count) == [4])
        #expect(prices.first?.first.record == 1)
    }

    /// Whether a record that lacks something is a reject is known when it is written, and so is whether its nulls count.
    @Test func theNullsOfAnInsertThatLacksSomethingDoNotCount() throws {
        let attributes = """
            "key": {"type": "string"}, "must": {"type": "double"}, "n": {"type": "integer16", "optional": true}
            """
        let records = """
            [{"key": "a", "n": "x"}, {"key": "b", "must": 1, "n": 5}, {"key": "b", "n": "x"}]
            """
        let (job, report) = try run(records, attributes: attributes, identifier: "[\"key\"]") { $0.onError = .null }
        #expect(report.rejected == 1)
        #expect(report.updated == 1)
        #expect(try StoreContent.query(job.store, "SELECT key, quote(n) FROM item") == "b|NULL")
        #expect(report.ledger["item"]?["n"] == ["nulled": 1])
        #expect(Set(try rejects(job).flatMap(\.errors).map(\.keyPath)) == ["must", "n"])
        #expect(report.errors.map(\.count).reduce(0, +) == 3)
    }
}
