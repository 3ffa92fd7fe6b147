import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

/// Change sets, written and read again.
struct ChangeSetTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let values: [StoredValue] = [
        .null, .integer(0), .integer(1), .integer(.min), .integer(.max), .real(1), .real(-0.0),
        .real(.leastNonzeroMagnitude),
        .real(0.1), .real(.infinity), .real(-.infinity), .text(""), .text("a\u{0}b"), .text("é"), .text("e\u{301}"),
        .text("null"), .text("1.5"), .text("1.50"), .text("{\"$blob\":\"YQ==\"}"), .text("{\"a\":[1,2.50]}"),
        .text("{ \"\\u0024x\":1}"), .text("[1"), .text("2013-06-14T00:00:00.000Z"), .text("\"\\ud800\""),
        .text("\u{1B}[31m\n\u{202E}"), .text("true"), .textBytes([0x61, 0xFF]), .blob([]), .blob([0, 1, 255]),
    ]

    private static let descriptions: [AttributeDescription?] =
        [nil]
        + AttributeType.allCases.map { type in
            AttributeDescription(
                name: "a",
                type: type,
                bits: type == .bitfield ? [.init(name: "w.x", position: 0), .init(name: "w.y", position: 3)] : []
            )
        }
        + AttributeType.allCases.flatMap { type in
            type.storageForms.dropFirst().map { AttributeDescription(name: "a", type: type, storage: $0) }
        }
        + [AttributeDescription(name: "a", type: .binary, formats: ["base64url"])]

    /// A header of entities `t` and `part`, whose objects are parts of those of `t`.
    private static func header(_ description: AttributeDescription? = nil) -> ChangeSetHeader {
        ChangeSetHeader(
            old: .init(name: "a.sqlite", objects: [("t", 1)]),
            new: .init(name: "b.sqlite", objects: [("t", 1)]),
            entities: [
                ChangedEntity(
                    "t",
                    identifier: ["id"],
                    attributes: [.init("id"), .init("a", description)],
                    relationships: [
                        .init("boss", to: "t"), .init("tags", to: "t", isToMany: true),
                        .init("parts", to: "part", isToMany: true, isOwned: true, isOrdered: true),
                        .init("lines", to: "line", isToMany: true, isOwned: true),
                    ]
                ),
                ChangedEntity("part", identifier: ["id"], attributes: [.init("id"), .init("v")]),
                ChangedEntity(
                    "line",
                    identifier: [],
                    attributes: [.init("v")],
                    relationships: [.init("of", to: "t"), .init("inner", to: "line", isToMany: true, isOwned: true)]
                ),
            ]
        )
    }

    private static func reference(_ id: Int64) -> ObjectReference { ObjectReference([NamedValue("id", .integer(id))]) }

    private func write(_ changes: [ObjectChange], _ header: ChangeSetHeader, limit: Int? = nil) throws -> URL {
        let url = URL(filePath: directory.path("\(UUID().uuidString).ndjson"))
        let writer = try ChangeSetWriter(url)
        if let limit { writer.maxRecordBytes = limit }
        try writer.begin(header)
        for change in changes { try writer.write(change) }
        try writer.end([])
        return url
    }

    private func read(_ url: URL, maxLineBytes: Int = 1 << 20) throws -> [ObjectChange] {
        let reader = try ChangeSetReader(url, maxLineBytes: maxLineBytes)
        var changes: [ObjectChange] = []
        while let change = try reader.next() { changes.append(change) }
        return changes
    }

    private func read(text: String) throws -> [ObjectChange] {
        try read(URL(filePath: directory.write(text, to: "\(UUID().uuidString).ndjson")))
    }

    @Test(arguments: descriptions)
    func giveBackEveryValueOfEveryType(_ description: AttributeDescription?) throws {
        let changes = Self.values.enumerated().map { index, value in
            ObjectChange(
                .updated,
                entity: "t",
                identifier: Self.reference(Int64(index)),
                attributes: [AttributeChange("a", old: value, new: Self.values[(index + 1) % Self.values.count])]
            )
        }
        let read = try read(write(changes, Self.header(description)))
        for (one, other) in zip(read, changes) { #expect(one == other) }
        #expect(read.count == changes.count)
    }

    private static var whole: ObjectChange {
        var change = ObjectChange(.updated, entity: "t", identifier: reference(1))
        change.references = [
            ReferenceChange("boss", .toOne(old: .null, new: .object(reference(2)))),
            ReferenceChange("tags", .toMany(added: [reference(3), reference(4)], removed: [reference(5)])),
        ]
        change.relationships = [
            OwnedChange(
                "parts",
                .objects([
                    ObjectChange(
                        .inserted,
                        entity: "part",
                        identifier: reference(7),
                        attributes: [
                            AttributeChange("id", new: .integer(7)), AttributeChange("v", new: .blob([1])),
                        ]
                    ),
                    ObjectChange(
                        .deleted,
                        entity: "part",
                        identifier: reference(8),
                        attributes: [AttributeChange("id", old: .integer(8)), AttributeChange("v", old: .null)]
                    ),
                ])
            ),
            OwnedChange(
                "lines",
                .values(
                    old: [],
                    new: [
                        OwnedValue(
                            [NamedValue("v", .text("x"))],
                            references: [.init("of", reference(2)), .init("of", nil)],
                            owned: [.init("inner", [OwnedValue([NamedValue("v", .real(1))])])]
                        )
                    ]
                )
            ),
        ]
        change.moved = [MovedObjects("parts", [reference(9)])]
        change.order = [OrderChange("parts", old: [reference(8)], new: [reference(7)])]
        return change
    }

    @Test func giveBackReferencesAndAllThatIsOwned() throws {
        #expect(try read(write([Self.whole], Self.header())) == [Self.whole])
    }

    @Test func oneChangeIsCodable() throws {
        for value in Self.values {
            var change = Self.whole
            change.attributes = [AttributeChange("a", old: value)]
            let data = try JSONEncoder().encode(change)
            #expect(try JSONDecoder().decode(ObjectChange.self, from: data) == change)
        }
    }

    @Test func divideLinesThatAreTooLong() throws {
        var change = ObjectChange(.inserted, entity: "t", identifier: Self.reference(1))
        change.attributes = [AttributeChange("id", new: .integer(1)), AttributeChange("a", new: .null)]
        let parts = (0..<100).map { id in
            ObjectChange(
                .inserted,
                entity: "part",
                identifier: Self.reference(Int64(id)),
                attributes: [
                    AttributeChange("id", new: .integer(Int64(id))), AttributeChange("v", new: .text("0123456789")),
                ]
            )
        }
        change.relationships = [OwnedChange("parts", .objects(parts))]
        let read = try read(write([change], Self.header(), limit: 2_000))
        #expect(read.count > 5)
        #expect(read.dropFirst().map(\.isContinued).contains(false) == false)
        #expect(read.first?.isContinued == false)
        var all: [ObjectChange] = []
        for owned in read.flatMap(\.relationships) {
            if case .objects(let changes) = owned.content { all += changes }
        }
        #expect(all == parts)
        #expect(read.first?.attributes == change.attributes)
    }

    @Test func giveBackTheHeader() throws {
        var header = Self.header(AttributeDescription(name: "a", type: .date, isOptional: true, storage: .unix))
        header.options = [.init("old", "all")]
        let url = try write([], header)
        let reader = try ChangeSetReader(url)
        #expect(reader.header == header)
        #expect(try reader.next() == nil)
        #expect(reader.footer?.changes == 0)
    }

    // MARK: What others have written

    private static let headerLine =
        #"{"format":"importer-changes","version":1,"entities":{"t":{"identifier":["id"],"attributes":{"id":{"type":"any"},"a":{"type":"any"},"d":{"type":"date","format":["iso8601","dotnet"]}}}},"later":1}"#

    private func changes(_ lines: String...) throws -> [ObjectChange] {
        try read(
            text: ([Self.headerLine] + lines + [#"{"end":true,"changes":\#(lines.count)}"#]).joined(separator: "\n")
                + "\n"
        )
    }

    @Test func acceptKeysInAnyOrder() throws {
        let expected = ObjectChange(
            .updated,
            entity: "t",
            identifier: Self.reference(1),
            attributes: [AttributeChange("a", old: .text("Oslo"), new: .text("Turin"))]
        )
        for line in [
            #"{"attributes":{"new":{"a":"Turin"},"old":{"a":"Oslo"}},"unknown":[{}],"identifier":{"id":1},"entityName":"t"}"#,
            #" { "change" : "updated", "entityName":"t", "identifier":{"id":1},"attributes":{"new":{"a":"Turin"},"old":{"a":"Os\u006co"}}} "#,
        ] {
            #expect(try changes(line) == [expected])
        }
    }

    @Test func readDatesInTheFormatsOfTheAttribute() throws {
        let change = try changes(
            #"{"entityName":"t","identifier":{"id":1},"attributes":{"new":{"d":"/Date(1371168000000)/"},"old":{"d":"/Date(-62135596800000)/"}}}"#
        )
        #expect(change.first?.attributes == [AttributeChange("d", old: .null, new: .text("2013-06-14T00:00:00.000Z"))])
    }

    @Test(arguments: [
        #"{"change":"inserted","entityName":"t","identifier":{"id":1},"attributes":{"old":{"a":1}}}"#,
        #"{"change":"deleted","entityName":"t","identifier":{"id":1},"attributes":{"old":{"a":1},"new":{"a":2}}}"#,
        #"{"change":"renamed","entityName":"t","identifier":{"id":1}}"#,
        #"{"entityName":"t","identifier":{"id":1},"attributes":{"a":{"old":1,"new":2}}}"#,
        #"{"entityName":"t","id":1,"a":{"old":1,"new":2}}"#,
        #"{"change":"updated","entityName":"t"}"#,
        #"{"change":"updated","identifier":{"id":1}}"#,
        #"{"change":"updated","entityName":"t","identifier":{}}"#,
        #"{"change":"updated","entityName":"t","identifier":{"id":{"$integer":"x"}}}"#,
        #"{"change":"updated","entityName":"t","identifier":{"id":{"$blob":"YQ==","b":1}}}"#,
        #"{"change":"updated","entityName":"t","identifier":{"id":99999999999999999999}}"#,
        #"{"change":"updated","entityName":"t","identifier":{"id":"\ud800"}}"#,
        #"{"change":"updated","entityName":"t","identifier":{"id":1}} x"#,
        #"{"change":"updated","entityName":"t","identifier":{"id":1}"#,
        "[", "", "null", "\u{FEFF}{}", #"{"a":01}"#,
    ])
    func refuseWhatIsNoChange(_ line: String) {
        #expect { try changes(line) } throws: { ($0 as? ImportError)?.code == .badInput }
    }

    @Test func refuseDeepNestingWithoutCrashing() throws {
        let open = #"{"entityName":"t","identifier":{"id":1},"relationships":{"p":["#
        for count in [400, 100_000] {
            let line = String(repeating: open, count: count)
            #expect { try changes(line) } throws: { ($0 as? ImportError)?.code == .badInput }
        }
        let values = String(repeating: "[", count: 500_000)
        #expect { try changes(#"{"x":\#(values)"#) } throws: { ($0 as? ImportError)?.code == .badInput }
    }

    @Test func refuseWhatIsNotWhole() throws {
        let whole = try String(contentsOf: write([Self.whole, Self.whole], Self.header()), encoding: .utf8)
        let lines = whole.split(separator: "\n", omittingEmptySubsequences: false)
        let damaged = [
            lines.dropLast(2).joined(separator: "\n") + "\n",
            ([lines[0]] + lines[2...]).joined(separator: "\n"),
            whole.replacing("\"old\":null", with: "\"old\": null"),
            whole + "{}\n",
            String(whole.dropFirst(1)),
            whole.replacing("\"version\":1", with: "\"version\":2"),
            "",
        ]
        for text in damaged { #expect { try read(text: text) } throws: { ($0 as? ImportError)?.code == .badInput } }
        #expect(try read(text: whole).count == 2)
        // Somebody who edits it leaves the checksum out.
        let edited = whole.replacing(try Regex(",\"xxh3\":\"[0-9a-f]{16}\""), with: "")
        #expect(try read(text: edited).count == 2)
    }

    @Test func refuseLinesThatAreTooLong() throws {
        let text = Self.headerLine + "\n" + String(repeating: "x", count: 2 << 20)
        #expect { try read(text: text) } throws: { ($0 as? ImportError)?.code == .badInput }
    }
}
