import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportEngine
@testable import ImportSQLite
@testable import ImportSources

/// Arrays of objects become entities of their own.
struct InferringTablesTests {
    private static func infer(
        _ statistics: EntityStatistics,
        _ rules: NestingRules,
        identifier: [[String]] = []
    ) throws -> InferredEntities {
        var names = TableNames()
        names.reserve("e")
        return try InferredEntities(of: statistics, named: "e", identifier: identifier, rules: rules, names: &names)
    }

    private static func infer(
        _ records: [String],
        rules: NestingRules = NestingRules(policy: .tables),
        identifier: [[String]] = []
    ) throws -> InferredEntities {
        try infer(gather(records, limits: rules.limits), rules, identifier: identifier)
    }

    /// The entities in short: `e(a, b) -> list: e_list`.
    private static func summary(_ inferred: InferredEntities) -> [String] {
        inferred.entities.map { entity in
            let attributes = entity.attributes.map(\.name).joined(separator: ", ")
            let lists = entity.relationships.map { " -> \($0.name): \($0.destination)" }.joined()
            return "\(entity.name)(\(attributes))\(lists)"
        }
    }

    /// What becomes of the array `l` beside the attribute `n`.
    struct Case: Sendable, CustomTestStringConvertible {
        let records: [String]
        let isTable: Bool
        var testDescription: String { records.joined(separator: " ") }
    }

    static let cases = [
        Case(records: [#"{"n":1,"l":[{"a":1}]}"#], isTable: true),
        Case(
            records: [#"{"n":1,"l":[]}"#, #"{"n":1,"l":null}"#, #"{"n":1}"#, #"{"n":1,"l":[{"a":1}]}"#],
            isTable: true
        ),
        Case(records: [#"{"n":1,"l":[{}, {"a":null}]}"#], isTable: true),
        Case(records: [#"{"n":1,"l":[]}"#], isTable: false),
        Case(records: [#"{"n":1,"l":[{}]}"#], isTable: false),
        Case(records: [#"{"n":1,"l":[{"a":1}, null]}"#], isTable: false),
        Case(records: [#"{"n":1,"l":[{"a":1}, 2]}"#], isTable: false),
        Case(records: [#"{"n":1,"l":[{"a":1}]}"#, #"{"n":1,"l":[[{"a":1}]]}"#], isTable: false),
        Case(records: [#"{"n":1,"l":[{"a":1}]}"#, #"{"n":1,"l":5}"#], isTable: false),
        Case(records: [#"{"n":1,"l":[{"a":1}]}"#, #"{"n":1,"l":{"a":1}}"#], isTable: true),
        Case(records: [#"{"n":1,"l":[{"17":1,"18":2}]}"#], isTable: false),
        Case(records: [#"{"n":1,"l":[{"de":1,"en":2},{"fr":1,"pt-BR":2}]}"#], isTable: false),
        Case(records: [#"{"n":1,"l":[{"a\ud800":1}]}"#], isTable: false),
    ]

    @Test(arguments: cases) func takesArraysThatHaveNothingButObjects(_ example: Case) throws {
        for records in [example.records, example.records.reversed()] {
            let inferred = try Self.infer(records)
            let expected = example.isTable ? ["e(n) -> l: e_l", "e_l(a)"] : ["e(n, l)"]
            let names = inferred.entities.first.map { $0.attributes.map(\.name).sorted() } ?? []
            #expect(inferred.entities.count == expected.count, "\(Self.summary(inferred))")
            #expect(names == (example.isTable ? ["n"] : ["l", "n"]))
            if !example.isTable {
                #expect(inferred.entities[0].attributes.first { $0.name == "l" }?.type == .json)
            }
        }
    }

    @Test func relationshipsAreOrderedListsThatAreDeletedWithTheirObject() throws {
        let inferred = try Self.infer([#"{"x":{"l":[{"a":{"b":1}}]}}"#])
        #expect(Self.summary(inferred) == ["e() -> x_l: e_x_l", "e_x_l(a_b)"])
        let relationship = inferred.entities[0].relationships[0]
        #expect(relationship.from == [.value(AttributePath(keys: ["x", "l"]))])
        #expect(relationship.isToMany && relationship.isOrdered == true && relationship.deleteRule == .cascade)
        #expect(relationship.inverse == nil && inferred.entities[1].identifier.isEmpty)
    }

    @Test func deeperArraysStayJSON() throws {
        let records = [#"{"a":[{"n":1,"b":[{"n":1,"c":[{"n":1,"d":[{"n":1}]}]}]}]}"#]
        let shapes = [
            1: ["e() -> a: e_a", "e_a(n, b)"],
            2: ["e() -> a: e_a", "e_a(n) -> b: e_a_b", "e_a_b(n, c)"],
            3: ["e() -> a: e_a", "e_a(n) -> b: e_a_b", "e_a_b(n) -> c: e_a_b_c", "e_a_b_c(n, d)"],
        ]
        for (depth, shape) in shapes {
            let inferred = try Self.infer(records, rules: NestingRules(policy: .tables, depth: depth))
            #expect(Self.summary(inferred) == shape)
            #expect(inferred.notices.contains { $0.finding == .arraysTooDeep })
        }
    }

    @Test func namesThatAreAlikeAreToldApart() throws {
        let clashing = #"{"a":{"b":[{"n":1}]},"A_B":[{"n":1}],"a_b":7,"l":[{"e_row_id":1,"E_POSITION":2,"e_id":3}],"#
        let inferred = try Self.infer([clashing + #""id":1,"l_m":[{"x":1}],"":[{"x":1}]}"#])
        #expect(
            Self.summary(inferred) == [
                "e(a_b_3, id) -> a_b_2: e_a_b_2 -> A_B: e_A_B -> l: e_l -> l_m: e_l_m -> empty: e_empty",
                "e_a_b_2(n)", "e_A_B(n)", "e_l(e_row_id_2, E_POSITION_2, e_id)", "e_l_m(x)", "e_empty(x)",
            ]
        )
        let identified = try Self.infer([clashing + #""id":1}"#], identifier: [["id"]])
        #expect(Self.summary(identified).last == "e_l(e_row_id, E_POSITION_2, e_id_2)")
    }

    /// A table's index has a name too: `e_l_e` is that of `e_l`.
    @Test func namesOfIndexesAndReservedOnesAreNotGiven() throws {
        var names = TableNames { $0 == "e_taken" }
        names.reserve("e")
        let given = try ["l", "taken", "a\0b"].map { try names.name(for: [$0], of: "e") }
        #expect(given == ["e_l", "e_taken_2", "e_a_b"])
        let index = try names.name(for: ["e"], of: "e_l")
        #expect(index == "e_l_e_2")
        let reserved = try ["SQLite", "_import"].map { try names.name(for: ["x"], of: $0) }
        #expect(reserved == ["_SQLite_x", "__import_x"])
    }

    @Test func onlyTheArraysThatAreNamedBecomeTables() throws {
        let records = [#"{"l":[{"m":[{"n":1}],"o":[{"n":1}]}],"k":[{"n":1}],"s":[1]}"#]
        func infer(_ only: [[String]]) throws -> InferredEntities {
            try Self.infer(records, rules: NestingRules(policy: .tables, only: only.map(AttributePath.init(keys:))))
        }
        #expect(try Self.summary(infer([["k"]])) == ["e(l, s) -> k: e_k", "e_k(n)"])
        #expect(
            try Self.summary(infer([["l", "m"]])) == ["e(k, s) -> l: e_l", "e_l(o) -> m: e_l_m", "e_l_m(n)"]
        )
        for (path, text) in [(["s"], "l, k"), (["l", "x"], "l.m"), (["q"], "l, k")] {
            let rules = NestingRules(policy: .tables, only: [AttributePath(keys: path)])
            let inferred = try infer([path])
            let error = #expect(throws: ImportError.self) { try rules.check([inferred.arrays], isEmpty: false) }
            #expect(error?.description.contains(text) == true, "\(error?.description ?? "")")
        }
    }

    @Test func theSwitchBetweenColumnsAndJSONKeepsBoth() throws {
        let records = [#"{"o":{"a":1},"l":[{"b":1}]}"#]
        #expect(try Self.summary(Self.infer(records, rules: NestingRules(policy: .json))) == ["e(o, l)"])
        #expect(try Self.summary(Self.infer(records, rules: NestingRules())) == ["e(o_a, l)"])
    }

    @Test func tooManyArraysStayJSON() throws {
        let members = (0..<101).map { "\"k\($0)\":[{\"a\":1}]" }
        let most = try Self.infer(["{\(members.dropLast().joined(separator: ","))}"])
        #expect(most.entities.count == 101)
        let more = try Self.infer(["{\(members.joined(separator: ","))}"])
        #expect(more.entities.count == 1 && more.entities[0].attributes.count == 101)
    }

    @Test func candidatesForIdentifiersOfObjectsInArraysAreSaid() throws {
        let inferred = try Self.infer(
            (1...100).map { #"{"id":\#($0),"l":[{"no":\#($0),"r":1,"s":\#($0)},{"no":\#($0 + 100),"r":2}]}"# }
        )
        let candidates = inferred.notices.filter { $0.finding == .identifierCandidate(isCertain: true) }
        #expect(candidates.map { "\($0.entity).\($0.path)" } == ["e.id", "e_l.no"])
        #expect(inferred.entities.map(\.identifier) == [[], []])
    }

    @Test func candidatesForReferencesAreSaidByTheirNames() throws {
        let rules = NestingRules(policy: .tables)
        var names = TableNames()
        let orders = try InferredEntities(
            of: gather([#"{"id":1,"lines":[{"product_id":1,"unit_id":1,"CategoryID":"x"}]}"#], limits: rules.limits),
            named: "orders",
            rules: rules,
            names: &names
        )
        let products = try InferredEntities(
            of: gather((1...100).map { #"{"id":\#($0),"order_id":1}"# }, limits: rules.limits),
            named: "products",
            rules: rules,
            names: &names
        )
        // Whose identifiers are no numbers, it is not; nor is one that is not there.
        let categories = EntityDescription(
            name: "Categories",
            identifier: ["categoryid"],
            attributes: [AttributeDescription(name: "categoryid", type: .integer64)]
        )
        let found = ReferenceCandidates(
            in: orders.entities + products.entities + [categories],
            orders.notices + products.notices
        )
        let text =
            #"orders_lines: product_id: by its name, could refer to products.id ("relationships" in a model file)"#
        #expect(found.notices.map(\.description) == [text])
    }

    /// The same under any limits, in any order, by any number of workers.
    @Test(arguments: 0..<10) func doesNotDependOnWhoSawWhichRecords(part: UInt64) throws {
        var random = SeededGenerator(seed: part + 300)
        var tableCount = 0
        for seed in part * 60..<part * 60 + 60 {
            var records = RandomRecords(seed: seed, hasLists: true)
            let texts = (0..<Int.random(in: 1...40, using: &random)).map { _ in records.next().text }
            let rules = NestingRules(policy: .tables, depth: Int.random(in: 1...3, using: &random))
            var limits = rules.limits
            if !seed.isMultiple(of: 3) {
                let charge = Int.random(in: 8...200, using: &random)
                limits.charges = [charge, max(2, charge / 2), max(2, charge / 3), max(2, charge / 4)]
                limits.keys = Int.random(in: 2...8, using: &random)
                limits.closedObjects = Int.random(in: 0...4, using: &random)
                limits.closedCharge = Int.random(in: 0...16, using: &random)
                limits.depth = Int.random(in: 2...8, using: &random)
                limits.columns = Int.random(in: 1...20, using: &random)
                limits.lists = Int.random(in: 1...4, using: &random)
                limits.sampledElements = Int.random(in: 1...8, using: &random)
                limits.sampledCharge = Int.random(in: 1...200, using: &random)
            }
            let whole = try Self.infer(gather(texts, limits: limits), rules)
            tableCount += whole.entities.count - 1
            for _ in 0..<3 {
                let parts = try Self.infer(merged(texts, limits: limits, &random), rules)
                #expect(parts.entities == whole.entities, "seed \(seed)")
                #expect(parts.notices == whole.notices, "seed \(seed)")
            }
            let model = ModelDescription(entities: whole.entities)
            #expect(try ModelDescription(parsing: Array(model.encoded().utf8)) == model, "seed \(seed)")
        }
        #expect(tableCount > 20)
    }
}
