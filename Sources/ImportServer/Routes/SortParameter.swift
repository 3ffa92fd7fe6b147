import Importer

/// What `sort=-age,name` asks for: names after commas, with a minus for the reverse; one in quotes may have any characters.
enum SortParameter {
    /// More names than these are refused.
    static let most = 32

    /// - Throws: `AnswerError` where a name is missing or a quote is open.
    static func sorts(_ text: String) throws -> [RecordSort] {
        var sorts: [RecordSort] = []
        var rest = Substring(text).utf8
        repeat {
            var ascending = true
            if rest.first == UInt8(ascii: "-") {
                ascending = false
                rest.removeFirst()
            }
            let name = try name(&rest)
            guard !name.isEmpty else { throw mistake(text) }
            guard sorts.count < most else {
                throw AnswerError(.badRequest, "sort has more than \(most) names", advice: "Sort by fewer.")
            }
            sorts.append(RecordSort(name, ascending: ascending))
            if rest.isEmpty { return sorts }
            guard rest.removeFirst() == UInt8(ascii: ",") else { throw mistake(text) }
        } while true
    }

    private static func name(_ rest: inout Substring.UTF8View) throws -> String {
        let quote = UInt8(ascii: "\"")
        guard rest.first == quote else {
            let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
            defer { rest = rest[end...] }
            return String(Substring(rest[..<end]))
        }
        rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == quote {
                // Two quotes are one in the name.
                guard rest.first == quote else { return String(decoding: bytes, as: UTF8.self) }
                rest.removeFirst()
            }
            bytes.append(byte)
        }
        throw AnswerError(.badRequest, "sort has a quote that does not end", advice: "Write sort=\"name\".")
    }

    private static func mistake(_ text: String) -> AnswerError {
        AnswerError(
            .badRequest,
            "a name is missing in sort=\(text.prefix(200))",
            advice: "Write sort=-age,name; a name with a comma or a minus goes in quotes."
        )
    }
}
