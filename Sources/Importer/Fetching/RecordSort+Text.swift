import ImportEngine
import ImportModel
import ImportSources

extension RecordSort {
    /// What `created:desc,-age,name nocase` asks for: names after commas, each with `asc`, `desc` or a collation after a colon or a
    /// space, or with a minus for the reverse; one in double quotes may have any characters.
    ///
    /// - Throws: `ImportError` with `.usage` where a name is missing, or a quote is open.
    package static func list(_ text: String) throws -> [RecordSort] {
        var rest = Substring(text).utf8
        var sorts: [RecordSort] = []
        repeat {
            if !sorts.isEmpty { rest = rest.dropFirst().drop { $0 == UInt8(ascii: " ") } }
            var sort = RecordSort("")
            if rest.first == UInt8(ascii: "-") {
                sort.ascending = false
                rest.removeFirst()
            }
            var name = try quoted(&rest, of: text)
            let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
            var words = String(Substring(rest[..<end]))
            rest = rest[end...]
            while words.last == " " { words.removeLast() }
            while let mark = words.lastIndex(where: { $0 == ":" || $0 == " " }), sort.take(words[mark...].dropFirst()) {
                words = String(words[..<mark])
            }
            if name == nil { name = words } else if !words.isEmpty { name = "" }
            sort.attribute = name ?? ""
            guard !sort.attribute.isEmpty else { throw mistake(text) }
            sorts.append(sort)
        } while !rest.isEmpty
        return sorts
    }

    /// A word for the order or the collation; false where it is none.
    private mutating func take(_ word: Substring) -> Bool {
        let word = word.lowercased()
        if word == "asc" || word == "desc" {
            ascending = word == "asc"
        } else if let collation = Collation(rawValue: word) {
            self.collation = collation
        } else {
            return false
        }
        return true
    }

    /// A name in double quotes, of which two are one in the name; nil where there is none.
    private static func quoted(_ rest: inout Substring.UTF8View, of text: String) throws -> String? {
        let quote = UInt8(ascii: "\"")
        guard rest.first == quote else { return nil }
        rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == quote {
                guard rest.first == quote else { return String(decoding: bytes, as: UTF8.self) }
                rest.removeFirst()
            }
            bytes.append(byte)
        }
        throw mistake(text)
    }

    private static func mistake(_ text: String) -> ImportError {
        ImportError(
            .optionInvalid,
            "a name is missing in the order '\(text.prefix(200))'",
            advice: "Write created:desc,name or -created,name; a name with a comma or a minus goes in double quotes."
        )
    }
}
