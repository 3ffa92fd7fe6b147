import Testing

@testable import ImportModel

/// Core Data models: what each part of the file becomes.
struct CoreDataModelTests {
    private func read(_ text: String, _ style: CoreDataModel.KeyStyle = .exact) throws(ModelError) -> CoreDataModel {
        try CoreDataModel(parsing: Array("<model>\n\(text)\n</model>".utf8), keyStyle: style)
    }

    private func entity(_ properties: String, _ style: CoreDataModel.KeyStyle = .exact) throws -> EntityDescription {
        try #require(try read("<entity name=\"E\">\(properties)</entity>", style).model.entities.first)
    }

    private func attribute(_ markup: String) throws -> AttributeDescription {
        try #require(try entity("<attribute name=\"a\" optional=\"YES\" \(markup)/>").attributes.first)
    }

    @Test(arguments: [
        ("Integer 16", AttributeType.integer16), ("Integer 32", .integer32), ("Integer 64", .integer64),
        ("Float", .float), ("Double", .double), ("Decimal", .decimal), ("Boolean", .boolean), ("String", .string),
        ("Date", .date), ("Binary", .binary), ("UUID", .uuid), ("URI", .uri), ("Transformable", .json),
    ])
    func knowsEveryType(name: String, type: AttributeType) throws {
        #expect(try attribute("attributeType=\"\(name)\"").type == type)
    }

    @Test(arguments: [
        ("Boolean", "YES", JSONValue.boolean(true)), ("Boolean", "NO", .boolean(false)),
        ("Boolean", "0.0", .boolean(false)), ("Boolean", "1", .boolean(true)), ("Integer 16", "-7", .number("-7")),
        ("Integer 64", "3.0", .number("3")), ("Double", "0.0", .number("0.0")), ("Decimal", "1e2", .number("1e2")),
        ("String", "", .string("")), ("URI", "http://a", .string("http://a")),
    ])
    func readsDefaults(type: String, text: String, value: JSONValue) throws {
        let markup = "attributeType=\"\(type)\" defaultValueString=\"\(text)\""
        #expect(try attribute(markup).defaultValue == value)
    }

    /// Dates count from 2001-01-01T00:00:00Z.
    @Test func countsDatesFromTheReferenceDate() throws {
        let date = try attribute(
            """
            attributeType="Date" defaultDateTimeInterval="0" minDateTimeInterval="-978307200" maxDateTimeInterval="0.5"
            """
        )
        #expect(date.defaultValue == .string("2001-01-01T00:00:00.000Z"))
        #expect(date.validation.minimum == .string("1970-01-01T00:00:00.000Z"))
        #expect(date.validation.maximum == .string("2001-01-01T00:00:00.500Z"))
    }

    @Test func readsRules() throws {
        let number = try attribute("attributeType=\"Double\" minValueString=\"0\" maxValueString=\"2.5\"")
        #expect(number.validation.minimum == .number("0") && number.validation.maximum == .number("2.5"))
        let text = try attribute(
            "attributeType=\"String\" minValueString=\"1\" maxValueString=\"9\" regularExpressionString=\"a|b\""
        )
        #expect(text.validation.minimumLength == 1 && text.validation.maximumLength == 9)
        // The whole text must match: one that only begins so does not.
        #expect(throws: Never.self) { try text.coerce(.string("a")) }
        #expect(throws: CoercionError.self) { try text.coerce(.string("ac")) }
    }

    @Test func requiresWhatIsNotOptional() throws {
        let entity = try entity(
            "<attribute name=\"a\" attributeType=\"String\"/><attribute name=\"b\" optional=\"NO\" attributeType=\"String\"/>"
                + "<attribute name=\"c\" optional=\"YES\" attributeType=\"String\"/>"
        )
        #expect(entity.attributes.map(\.isOptional) == [false, false, true])
    }

    @Test func makesAnAttributeOfEachElementOfAComposite() throws {
        let model = try read(
            """
            <entity name="E"><attribute name="at" attributeType="Composite" composite="Place"/></entity>
            <composite name="Place"><attribute name="lat" attributeType="Double"/>
            <attribute name="area" optional="YES" attributeType="Composite" composite="Area"/></composite>
            <composite name="Area"><attribute name="zipCode" attributeType="String"/></composite>
            """,
            .any
        ).model
        let attributes = model.entities[0].attributes
        #expect(attributes.map(\.name) == ["at.lat", "at.area.zipCode"])
        #expect(attributes.map(\.column) == ["at_lat", "at_area_zipCode"])
        #expect(attributes.map(\.isOptional) == [false, true])
        #expect(attributes[1].from.map(\.description) == ["at.area.zipCode", "at.area.zip_code"])
    }

    @Test func keepsRelationshipsWithTheirInverses() throws {
        let model = try read(
            """
            <entity name="Parent" isAbstract="YES"><attribute name="id" attributeType="UUID"/>
            <relationship name="children" optional="YES" toMany="YES" minCount="1" maxCount="3" ordered="YES"
              deletionRule="Cascade" destinationEntity="Child" inverseName="parent" inverseEntity="Child" elementID="kids"/>
            <relationship name="any" toMany="YES" maxCount="-1" deletionRule="No Action" destinationEntity="Other"/></entity>
            <entity name="Other"><attribute name="x" attributeType="String"/></entity>
            <entity name="Sub" parentEntity="Parent" elementID="Under"/>
            <entity name="Child"><relationship name="parent" maxCount="1" minCount="1" deletionRule="Deny"
              destinationEntity="Parent" inverseName="children" inverseEntity="Parent"/></entity>
            """
        ).model
        let (parent, sub, child) = (model.entities[0], model.entities[2], model.entities[3])
        #expect(parent.isAbstract && sub.parent == "Parent" && sub.renamingIdentifier == "Under")
        let children = parent.relationships[0]
        #expect(children.isToMany && children.isOptional && children.isOrdered == true)
        #expect(children.minimumCount == 1 && children.maximumCount == 3 && children.deleteRule == .cascade)
        #expect(children.inverse == "parent" && children.renamingIdentifier == "kids")
        // Order and counts are not a matter of course, and a to-one has none.
        #expect(parent.relationships[1].isOrdered == false && parent.relationships[1].maximumCount == nil)
        #expect(parent.relationships[1].deleteRule == .noAction && !parent.relationships[1].isOptional)
        #expect(child.relationships[0].minimumCount == nil && child.relationships[0].deleteRule == .deny)
    }

    // MARK: Identifiers and indexes

    @Test func takesTheFirstUniquenessConstraintForTheIdentifier() throws {
        let file = try read(
            """
            <entity name="E"><attribute name="a" optional="YES" attributeType="String" defaultValueString="x"/>
            <attribute name="b" optional="YES" attributeType="String" indexed="YES"/>
            <relationship name="r" optional="YES" maxCount="1" destinationEntity="E"/>
            <fetchIndex name="i"><fetchIndexElement property="r" type="Binary"/>
              <fetchIndexElement property="b" type="Binary" order="descending"/></fetchIndex>
            <fetchIndex name="s"><fetchIndexElement property="b" type="RTree"/></fetchIndex>
            <compoundIndexes><compoundIndex><index value="a"/><index value="b"/></compoundIndex></compoundIndexes>
            <uniquenessConstraints><uniquenessConstraint><constraint value="a"/></uniquenessConstraint>
              <uniquenessConstraint><constraint value="b"/></uniquenessConstraint></uniquenessConstraints></entity>
            """
        )
        let entity = file.model.entities[0]
        #expect(entity.identifier == ["a"])
        #expect(!entity.attributes[0].isOptional && entity.attributes[0].defaultValue == nil)
        #expect(entity.indexes == [["b"], ["a", "b"], ["r", "b"]])
        #expect(file.notices.count == 3, "\(file.notices)")
        #expect(file.notices.contains { "\($0)".contains("its direction is left out") }, "\(file.notices)")
    }

    @Test(arguments: [
        ("<userInfo><entry key=\"identityAttributes\" value=\"a, b\"/></userInfo>", "", ["a", "b"]),
        ("<userInfo><entry key=\"relatedByAttribute\" value=\"b\"/></userInfo>", "", ["b"]),
        ("<userInfo><entry key=\"id\" value=\"nothing\"/></userInfo>", "", []),
        ("", "<userInfo><entry key=\"sync.isPrimaryKey\" value=\"YES\"/></userInfo>", ["b"]),
        ("", "<userInfo><entry key=\"hyper.isPrimaryKey\" value=\"true\"/></userInfo>", ["b"]),
        ("", "<userInfo><entry key=\"sync.isPrimaryKey\" value=\"NO\"/></userInfo>", []),
    ])
    func findsIdentifiersThatLibrariesName(ofEntity: String, ofAttribute: String, identifier: [String]) throws {
        let entity = try entity(
            "<attribute name=\"a\" optional=\"YES\" attributeType=\"String\"/>"
                + "<attribute name=\"b\" optional=\"YES\" attributeType=\"String\">\(ofAttribute)</attribute>\(ofEntity)"
        )
        #expect(entity.identifier == identifier)
        #expect(entity.attributes.map(\.isOptional) == ["a", "b"].map { !identifier.contains($0) })
        // What was understood is not kept beside it.
        let isKept = identifier.isEmpty && !ofEntity.isEmpty
        #expect((entity.userInfo != nil) == isKept && entity.attributes[1].userInfo == nil)
    }

    /// All rows of a table have one identifier: a subentity's own is an index.
    @Test func makesAnIndexOfAnIdentifierThatItsTableCannotHave() throws {
        let file = try read(
            """
            <entity name="Car"><attribute name="name" optional="YES" attributeType="String"/></entity>
            <entity name="Racer" parentEntity="Car"><attribute name="number" attributeType="Integer 16"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="number"/></uniquenessConstraint>
            </uniquenessConstraints></entity>
            <entity name="Team"><relationship name="cars" toMany="YES" destinationEntity="Car"/></entity>
            """
        )
        #expect(file.model.entities[1].identifier.isEmpty && file.model.entities[1].indexes == [["number"]])
        #expect(file.notices.contains { $0.path == "Racer (line 3)" })
    }

    // MARK: Names

    @Test func tellsApartWhatSQLiteWouldTakeForTheSame() throws {
        let model = try read(
            """
            <entity name="Note"><attribute name="rowid" attributeType="String"/><attribute name="Key" attributeType="String"/>
            <attribute name="key" attributeType="String"/><attribute name="owner_row_id" attributeType="String"/>
            <relationship name="owner" maxCount="1" destinationEntity="Owner" inverseName="notes"/></entity>
            <entity name="Owner"><attribute name="x" attributeType="String"/>
            <relationship name="notes" toMany="YES" destinationEntity="Note" inverseName="owner"/></entity>
            <entity name="note"><attribute name="x" attributeType="String"/></entity>
            """
        ).model
        #expect(model.entities[0].attributes.map(\.column) == ["rowid_2", "Key", "key_2", "owner_row_id"])
        #expect(model.entities[0].relationships[0].columns == ["owner_row_id_reference"])
        #expect(model.entities.map(\.table) == ["Note", "Owner", "note_2"])
    }

    /// Subentities in one table may have attributes of one name and different types.
    @Test func givesAttributesOfDifferentTypesTheirOwnColumns() throws {
        let model = try read(
            """
            <entity name="Base"><attribute name="k" attributeType="String"/></entity>
            <entity name="A" parentEntity="Base"><attribute name="v" attributeType="String"/></entity>
            <entity name="B" parentEntity="Base"><attribute name="v" attributeType="Integer 16"/></entity>
            <entity name="C" parentEntity="Base"><attribute name="v" attributeType="String"/></entity>
            <entity name="User"><relationship name="base" maxCount="1" destinationEntity="Base"/></entity>
            """
        ).model
        #expect(model.entities[1...3].map { $0.attributes[0].column } == ["v", "v_2", "v"])
    }

    // MARK: What is left out

    @Test(arguments: [
        ("transient=\"YES\" attributeType=\"String\"", 0),
        ("transient=\"YES\" attributeType=\"String\" defaultValueString=\"x\"", 1),
        ("derived=\"YES\" derivationExpression=\"b.c\" attributeType=\"String\"", 1),
        ("attributeType=\"Undefined\"", 0),
        ("attributeType=\"ObjectID\" defaultValueString=\"x\"", 1), ("", 0), ("attributeType=\"Colour\"", 1),
    ])
    func leavesOutWhatNoStoreKeeps(markup: String, notices: Int) throws {
        let file = try read(
            "<entity name=\"E\"><attribute name=\"a\" \(markup)/><attribute name=\"b\" attributeType=\"Date\"/></entity>"
        )
        #expect(file.model.entities[0].attributes.map(\.name) == ["b"])
        #expect(file.notices.map(\.path) == Array(repeating: "E.a (line 2)", count: notices))
    }

    @Test func namesOnceWhatItCannotCarryOver() throws {
        let file = try read(
            """
            <entity name="E"><attribute name="a" attributeType="Transformable" valueTransformerName="T"/>
            <attribute name="b" attributeType="Integer 16" defaultValueString="70000" renamingIdentifier="c"/>
            <fetchedProperty name="f"/><wibble/><wibble/></entity>
            <entity name="Nothing"/><configuration name="c"/><fetchRequest name="r"/><elements/>
            """
        )
        #expect(
            file.notices.map(\.path)
                == ["E.a (line 2)", "E.b (line 3)", "E.b (line 3)", "E (line 4)", "E.f (line 4)", "Nothing (line 5)"]
        )
        #expect(file.model.entities.map(\.name) == ["E"])
        #expect(throws: Never.self) { try file.model.check() }
    }
}
