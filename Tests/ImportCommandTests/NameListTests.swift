import ArgumentParser
import Testing

@testable import ImportCommand

struct NameListTests {
    @Test(arguments: [
        ("id", ["id"]), ("id,name", ["id", "name"]), ("zip code,a.b", ["zip code", "a.b"]), ("", []), (",id,,", ["id"]),
        (#""zip,code",id"#, ["zip,code", "id"]), ("`a,b`,`c`", ["a,b", "c"]), (#""a""b","#, ["a\"b"]),
        ("`a``b`", ["a`b"]), ("id, name", ["id", "name"]), ("\"a\", b", ["a", "b"]),
        (#"a"b,c`d"#, ["a\"b", "c`d"]), (#""""#, [""]), ("日本,\"é,\"", ["日本", "é,"]),
    ])
    func takesNamesAsTheyAreQuotedInPredicates(text: String, names: [String]) throws {
        #expect(try NameList.names(in: text, of: "--columns") == names)
    }

    @Test(arguments: ["\"a", "`a,b", "\"a\"b", "\"a\"\"", "id,\"a"])
    func saysWhatIsWrong(text: String) {
        #expect(throws: ValidationError.self) { try NameList.names(in: text, of: "--columns") }
    }
}
