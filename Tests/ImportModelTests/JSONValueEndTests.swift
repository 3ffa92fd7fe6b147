import ImportModel
import Testing

/// Where a value ends that begins somewhere.
struct JSONValueEndTests {
    private static let values = [
        "\"\"", "\"a\\\"b\"", "\"\\\\\"", "\"]}\"", "-1.5e+3", "true", "null", "[]", "{}", "[1, \"]\", {\"a}\": [[]]}]",
        "{\"a\": \"\\\"}\", \"b\": [true, {}]}",
    ]

    @Test(arguments: values) func endsWhereTheValueEnds(_ value: String) {
        for (before, after) in [("", ""), ("{\"k\": ", ",\"l\": 1}"), ("[", "]"), ("[1 ,", " ,\"x\"]")] {
            let json = Array((before + value + after).utf8)
            let start = before.utf8.count
            #expect(JSONValueEnd.range(at: start, in: json) == start..<start + value.utf8.count)
        }
    }

    @Test(arguments: ["", " 1", ",", "]", "\"a", "\"a\\\"", "[1", "{\"a\": \"}\""])
    func isNoneWhereNoWholeValueBegins(_ text: String) {
        #expect(JSONValueEnd.range(at: 0, in: Array(text.utf8)) == nil)
        #expect(JSONValueEnd.range(at: -1, in: Array(text.utf8)) == nil)
    }
}
