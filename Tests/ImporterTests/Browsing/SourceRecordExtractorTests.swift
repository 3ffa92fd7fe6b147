import TestSupport
import Testing

@testable import Importer

/// Records are the same wherever the blocks end that they come in.
struct SourceRecordExtractorTests {
    private static let values = [#"{"a": [1, "]}\\\""], "b": "é"}"#, "12345", #""a, b""#, "null", "[]", "-1.5e3"]

    /// The layout, the path, what precedes the records, what is between them and after them, and whether they are the source's first.
    private static let shapes: [(SourceShape.Layout, String, String, String, String, Bool)] = [
        (.lines, "$", " \n", " \r\n\n", "\n", true), (.lines, "$", "\n", "\n", "", false),
        (.stream, "$", " ", "\n ", "", true), (.stream, "$[*]", "[", ",", "]", true),
        (.stream, "$[*]", ", ", " ,\n", " ]\n", false),
        (
            .stream, "$.it.ems[*]", #"{"a": 12, "\u0069t": {"x": ["ems", {}], "ems": ["#, ",", #"], "y": [1, 2]}}"#,
            true
        ),
    ]

    @Test(arguments: shapes.indices)
    func blocksMayEndAnywhere(index: Int) throws {
        let (layout, path, start, between, end, isStart) = Self.shapes[index]
        let text = start + Self.values.joined(separator: between) + end
        let bytes = Array(text.utf8)
        for size in [1, 2, 3, 5, 8, 13, 1_000] {
            var cutter = try #require(
                SourceRecordExtractor(SourceShape(layout: layout, paths: [path]), isStart: isStart)
            )
            var records: [String] = []
            for first in stride(from: 0, to: bytes.count, by: size) {
                let block = bytes[first..<min(first + size, bytes.count)]
                cutter.take(block, isLast: block.endIndex == bytes.count) { record, place in
                    #expect(Array(record) == Array(bytes[place..<place + record.count]))
                    records.append(String(decoding: record, as: UTF8.self))
                }
            }
            #expect(records == Self.values, "blocks of \(size)")
        }
    }

    @Test(arguments: ["$.*", "$[*].a[*]", "$.a", "$.a.*[*]"])
    func whatDependsOnWhatPrecedesIsNotCut(path: String) {
        #expect(SourceRecordExtractor(SourceShape(layout: .stream, paths: [path]), isStart: false) == nil)
    }
}
