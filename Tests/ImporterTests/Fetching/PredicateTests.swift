import Foundation
import ImportModel
import Importer
import Testing

@testable import ImportChanges
@testable import ImportSources

struct PredicateTests {
    private static let entity = EntityDescription(
        name: "Person",
        attributes: [
            AttributeDescription(name: "age", type: .integer16), AttributeDescription(name: "city", type: .string),
            AttributeDescription(name: "balance", column: "money", type: .decimal),
            AttributeDescription(name: "active", type: .boolean), AttributeDescription(name: "born", type: .date),
            AttributeDescription(name: "seen", type: .date, storage: .unix),
            AttributeDescription(name: "day", type: .date, formats: ["dd/MM/yyyy"]),
            AttributeDescription(name: "weight", type: .float), AttributeDescription(name: "key", type: .uuid),
            AttributeDescription(name: "raw", type: .uuid, storage: .blob),
            AttributeDescription(name: "tags", type: .json), AttributeDescription(name: "zip code", type: .string),
        ]
    )

    private func error(_ text: String) -> RecordPredicateError? {
        do {
            _ = try RecordPredicate(parsing: text).compiled(for: FetchedEntity(Self.entity))
            return nil
        } catch {
            return error as? RecordPredicateError
        }
    }

    /// The part of the text that an error points to.
    private func marked(_ error: RecordPredicateError) -> String {
        let bytes = Array(error.text.utf8)
        return String(decoding: bytes[error.byteOffset..<error.byteOffset + error.byteCount], as: UTF8.self)
    }

    @Test(arguments: [
        ("age > 30 and agee < 5", "agee", "did you mean age?"), ("city = 'Oslo", "'Oslo", "quote is not closed"),
        ("\"city = 1", "\"city = 1", "quote is not closed"), ("age > 'x'", "'x'", "an integer16"),
        ("city > 5", "5", "a string"), ("age >", "", "the predicate ends"),
        ("age > 30 city = 'x'", "city", "expected and"),
        ("(age > 30", "", "expected )"), ("age 30", "30", "expected a comparison"),
        ("age = 12abc", "12abc", "not a number"),
        ("age & 3", "&", "no meaning"), ("city", "city", "needs a comparison"), ("5 = 5", "5 = 5", "neither side is"),
        ("active > true", "active", "a boolean"), ("tags = 'x'", "tags", "JSON"), ("age like 'x'", "age", "not a text"),
        ("city like 5", "5", "single quotes"), ("city like 'a\0%'", "'a\0%'", "NUL"),
        ("born > 'soon'", "'soon'", "a date"), ("age in ()", ")", "expected"),
        ("age in (1, null)", "null", "cannot have null"), ("age < null", "null", "null is neither"),
        ("age is 5", "5", "expected null"),
        ("key = 'x'", "'x'", "UUID"), ("raw like 'x'", "raw", "a UUID as blob, not a text"),
        ("raw = key", "key", "raw is a UUID as blob, but key is a UUID"),
        ("age = city", "city", "is an integer16, but city is a string"), ("", "", "ends"),
        ("åge = 1", "åge", "no attribute"), ("age between 1 or 2", "or", "expected and"),
        ("age = ?", "?", "no value"), ("5 is null", "5", "before is"), ("5 in (5)", "5", "before in"),
        ("'a' contains 'a'", "'a'", "before contains"), ("age in (city)", "city", "not an attribute"),
        ("age = true", "true", "a boolean"), ("tags in (1)", "tags", "JSON"),
        ("and", "and", "expected an attribute"), ("age = 1;", ";", "no meaning"), ("age -- x", "-", "not a number"),
    ])
    func saysWhatIsWrongAndWhere(text: String, place: String, message: String) throws {
        let error = try #require(self.error(text), "\(text)")
        #expect(error.message.contains(message), "\(text): \(error.message)")
        #expect(marked(error) == place, "\(text): \(error.message)")
        #expect(error.advice?.isEmpty == false, "\(text): \(error.message)")
    }

    @Test func refusesWhatWouldFillTheStack() {
        let deep = String(repeating: "(", count: 100_000)
        #expect(error(deep)?.message.contains("nested") == true)
        #expect(error(String(repeating: "not ", count: 100_000) + "active")?.message.contains("nested") == true)
    }

    @Test func bindsValuesInTheFormInWhichTheyAreStored() throws {
        func bound(_ text: String) throws -> [Record.Value] {
            try RecordPredicate(parsing: text).compiled(for: FetchedEntity(Self.entity)).condition.arguments.map {
                Record.Value($0)
            }
        }
        #expect(try bound("age > 3e1") == [.integer(30)])
        #expect(try bound("age > 30.5") == [.integer(30)])
        #expect(try bound("balance = 1.50") == [.text("1.5")])
        #expect(try bound("balance = '1.50'") == [.text("1.5")])
        #expect(try bound("active = true") == [.integer(1)])
        let day: [Record.Value] = [.text("2024-02-29T00:00:00.000Z"), .text("2024-03-01T00:00:00.000Z")]
        #expect(try bound("born = '2024-02-29'") == day)
        #expect(try bound("born in ('2024-02-29')") == day && bound("born <> '2024-02-29'") == day)
        #expect(try bound("born between '2024-02-29' and '2024-02-29'") == day)
        #expect(try bound("born > '2024-02-29'") == [day[1]] && bound("born < '2024-02-29'") == [day[0]])
        #expect(try bound("born = '9999-12-31'") == [.text("9999-12-31T00:00:00.000Z")])
        #expect(try bound("seen >= '1970-01-02'") == [.integer(86_400)])
        #expect(try bound("seen >= '1970-01-02T00:00:00.500Z'") == [.real(86_400.5)])
        #expect(try bound("day = '29/02/2024' or day = '2024-02-29'") == [day[0]] + day)
        #expect(try bound("weight = 0.1") == [.real(Double(Float(0.1)))])
        #expect(
            try bound("key = '{6BA7B810-9DAD-11D1-80B4-00C04FD430C8}'") == [
                .text("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
            ]
        )
        #expect(try bound("\"zip code\" = 'O''Hara'") == [.text("O'Hara")])
        #expect(try bound("`zip code` = '\"; drop table x; --'") == [.text("\"; drop table x; --")])
    }

    @Test func takesValuesForQuestionMarks() throws {
        let predicate = try RecordPredicate(parsing: "city = ? and age in ?", arguments: ["' or 1=1 --", [3, 4].json])
        let condition = try predicate.compiled(for: FetchedEntity(Self.entity)).condition
        #expect(condition.arguments == [.text(Array("' or 1=1 --".utf8)), .integer(3), .integer(4)])
        #expect(!condition.sql.contains("1=1"))
        #expect(throws: RecordPredicateError.self) { try RecordPredicate(parsing: "age = 1", arguments: [3]) }
        #expect(
            try RecordPredicate(parsing: "age = ?", arguments: [3])
                != RecordPredicate(parsing: "age = ?", arguments: [4])
        )
    }

    /// `String` takes the two spellings of é for equal; SQLite does not.
    @Test func tellsPredicatesApartByTheirBytes() throws {
        #expect(try RecordPredicate("city = '\u{E9}'") != RecordPredicate("city = 'e\u{301}'"))
        #expect(Record(rowID: 1, values: [.text("\u{E9}")]) != Record(rowID: 1, values: [.text("e\u{301}")]))
    }
}

extension [Int] {
    fileprivate var json: JSONValue { .array(map { .number("\($0)") }) }
}

extension Record.Value {
    fileprivate init(_ bound: RawArgument) {
        self =
            switch bound {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
            case .blob(let bytes): .blob(bytes)
            }
    }
}
