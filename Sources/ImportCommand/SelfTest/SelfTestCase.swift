import Foundation

/// An import of made-up data: its sources, and how the command is given them.
struct SelfTestCase: Equatable {
    enum Shape: String, CaseIterable {
        case array
        case lines = "NDJSON"
        case document = "records in a document"
        case gzip
        case identifier = "identifiers that come again"
        case graph = "nested tables"
        case rejects
        case stream = "standard input"
        case folder = "small files"
        case grown = "a file that grows"
        case mirror
    }

    let shape: Shape
    /// The files before each import, by their names; those of a second one have changed since the first.
    private(set) var nights: [[String: Data]]
    /// What follows `import`: sources and job options.
    private(set) var arguments: [String]
    /// The file that is piped into standard input.
    private(set) var input: String?

    /// Makes a case up.
    ///
    /// - Parameter records: about how many; nil for some hundreds.
    init(_ shape: Shape, seed: UInt64, records: Int? = nil) {
        self.shape = shape
        var made = MadeUpRecords(random: SeededNumbers(seed: seed))
        let count = records ?? made.random.number(300...1_500)
        let hasModel = shape == .rejects || records == nil && made.random.chance(50)
        var model = hasModel ? ["--model", "model.json"] : []
        switch shape {
        case .array:
            nights = [["people.json": Self.array(Self.people(count, &made))]]
            arguments = ["people.json"]
        case .lines:
            nights = [["people.ndjson": Self.lines(Self.people(count, &made))]]
            arguments = ["people.ndjson"]
        case .document:
            let people = String(decoding: Self.array(Self.people(count, &made)), as: UTF8.self)
            nights = [["people.json": Data("{\"version\": 2, \"data\": {\"people\": \(people)}, \"end\": true}".utf8)]]
            arguments = ["people.json", "--records", "$.data.people[*]", "--entity", "people"]
        case .gzip:
            nights = [["people.json.gz": StoredGzip.data(Array(Self.array(Self.people(count, &made))))]]
            arguments = ["people.json.gz"]
        case .identifier:
            // A half comes again, with other values and without some.
            let people = (0..<count).map { _ in made.person(made.random.number(1...max(count / 2, 1))) }
            nights = [["people.ndjson": Self.lines(people)]]
            let policy = records == nil ? made.random.one(of: ["merge", "replace", "ignore"]) : "merge"
            arguments = [
                "people.ndjson", "--identifier", made.random.one(of: ["id", "guid"]), "--on-conflict", policy,
            ]
            model = []
        case .graph:
            nights = [["orders.json": Self.array((0..<count).map { made.order($0) })]]
            arguments = ["orders.json", "--nested", "tables"] + (made.random.chance(50) ? ["--identifier", "id"] : [])
            model = []
        case .rejects:
            nights = [
                ["people.ndjson": Self.lines((0..<count).map { $0 % 9 == 5 ? made.misfit($0) : made.person($0) })]
            ]
            arguments = ["people.ndjson"]
        case .stream:
            nights = [["people.json": Self.array(Self.people(count, &made))]]
            arguments = ["-", "--entity", "people"]
            input = "people.json"
        case .folder:
            var files: [String: Data] = [:]
            var first = 0
            while first < count {
                let end = min(first + made.random.number(1...40), count)
                let people = (first..<end).map { made.person($0) }
                let isArray = made.random.chance(50)
                files["people/\(10_000 + first).\(isArray ? "json" : "ndjson")"] =
                    isArray ? Self.array(people) : Self.lines(people)
                first = end
            }
            nights = [files]
            arguments = ["people", "--entity", "people"]
        case .grown:
            let people = Self.people(count, &made)
            nights = [count / 2, count].map { ["people.ndjson": Self.lines(Array(people.prefix($0)))] }
            arguments = ["people.ndjson"]
        case .mirror:
            let first = Self.people(count, &made)
            // A fifth is gone, a fifth is new, and some of the others have changed.
            var second = (0..<count * 6 / 5).map { $0 < count && made.random.chance(70) ? first[$0] : made.person($0) }
            second.removeAll { _ in made.random.chance(17) }
            nights = [first, second].map { ["people.json": Self.array($0)] }
            arguments = ["people.json", "--identifier", "id", "--mirror", "--max-delete", "100%"]
            model = []
        }
        arguments += model
        if !model.isEmpty { nights[0]["model.json"] = Data(MadeUpRecords.model.utf8) }
    }

    private static func people(_ count: Int, _ made: inout MadeUpRecords) -> [String] {
        (0..<count).map { made.person($0) }
    }

    private static func array(_ records: [String]) -> Data { Data("[\(records.joined(separator: ",\n"))]\n".utf8) }

    private static func lines(_ records: [String]) -> Data { Data(records.map { $0 + "\n" }.joined().utf8) }
}
