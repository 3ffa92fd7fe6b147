import Importer
import Testing

/// An order is written in one way for the command and for the page.
struct RecordSortTests {
    @Test(arguments: [
        ("age", [RecordSort("age")]), ("-age,name", [RecordSort("age", ascending: false), RecordSort("name")]),
        (
            "created:desc,name:nocase",
            [RecordSort("created", ascending: false), RecordSort("name", collation: .nocase)]
        ),
        ("city DESC", [RecordSort("city", ascending: false)]), ("city:DESC", [RecordSort("city", ascending: false)]),
        ("name:nocase:desc", [RecordSort("name", ascending: false, collation: .nocase)]),
        ("age, name", [RecordSort("age"), RecordSort("name")]),
        ("age desc , -name", [RecordSort("age", ascending: false), RecordSort("name", ascending: false)]),
        ("a:b,c d", [RecordSort("a:b"), RecordSort("c d")]), ("a\"b", [RecordSort("a\"b")]),
        (#""a,b",-"-c""d""#, [RecordSort("a,b"), RecordSort("-c\"d", ascending: false)]),
        (#""a:desc":desc"#, [RecordSort("a:desc", ascending: false)]),
    ])
    func isReadAsItIsMeant(text: String, sorts: [RecordSort]) throws {
        #expect(try RecordSort.list(text) == sorts)
    }

    @Test(arguments: ["", ",", "a,", "-", "\"a", "\"a\"b", "\"\"", ":desc"])
    func lacksAName(text: String) {
        #expect(throws: ImportError.self) { try RecordSort.list(text) }
    }
}
