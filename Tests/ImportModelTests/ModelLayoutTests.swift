import Testing

@testable import ImportModel

/// The tables of models.
struct ModelLayoutTests {
    private func tables(_ entities: String) throws -> [String] {
        let model = try ModelDescription(parsing: Array("{\"entities\": {\(entities)}}".utf8))
        return try ModelLayout(model).tables.map { table in
            var parts = table.columns.map { "\($0.name) \($0.attribute.type)" }
            if !table.primaryKey.isEmpty { parts.append("key \(table.primaryKey.joined(separator: "+"))") }
            parts += table.indexes.map {
                "\($0.isUnique ? "unique" : "index") \($0.name) \($0.columns.joined(separator: "+"))"
            }
            parts += table.foreignKeys.map {
                "\($0.columns.joined(separator: "+")) to \($0.table) \($0.referenced.joined(separator: "+")) \($0.action)"
            }
            return "\(table.name): \(parts.joined(separator: ", "))"
        }
    }

    @Test func placesTheExampleOfOrders() throws {
        let entities = """
            "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
              "relationships": {
                "customer": {"entity": "person", "from": ["customer_id", "customer"], "inverse": "orders"},
                "lines":    {"entity": "line", "toMany": true, "from": "items", "deleteRule": "cascade"},
                "tags":     {"entity": "tag", "toMany": true}}},
            "person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "name": {"type": "string"}},
              "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "customer", "from": []}}},
            "line": {"attributes": {"sku": {"type": "string"}, "count": {"type": "integer32"}}},
            "tag":  {"identifier": ["name"], "attributes": {"name": {"type": "string", "from": "@value"}}}
            """
        #expect(
            try tables(entities) == [
                "order: id integer64, customer_id integer64, key id, index order_customer customer_id, "
                    + "customer_id to person id setNull",
                "person: id integer64, name string, key id",
                "line: sku string, count integer32, order_id integer64, order_position integer64, "
                    + "unique line_order order_id+order_position, order_id to order id cascade",
                "tag: name string, unique tag_identifier name",
                "order_tags: order_id integer64, tags_name string, position integer64, key order_id+tags_name, "
                    + "index order_tags_inverse tags_name, order_id to order id cascade, tags_name to tag name cascade",
            ]
        )
    }

    /// A to-one without other side leads to what an object refers to, not to what it is nested in.
    @Test func identifiesAnObjectByWhatItIsNestedIn() throws {
        let entities = """
            "part": {"identifier": ["@parent", "no"], "attributes": {"no": {"type": "integer16"}},
              "relationships": {"maker": {"entity": "box"}}},
            "box": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
              "relationships": {"parts": {"entity": "part", "toMany": true}}}
            """
        #expect(try tables(entities)[0].contains("unique part_identifier box_id+no"))
    }

    @Test func givesRowsWithoutIdentifierAKeyWhereSomethingRefersToThem() throws {
        let entities = """
            "thread": {"attributes": {"row_id": {"type": "string"}},
              "relationships": {"comments": {"entity": "comment", "toMany": true}}},
            "comment": {"attributes": {"text": {"type": "string"}},
              "relationships": {"replies": {"entity": "comment", "toMany": true}}}
            """
        #expect(
            try tables(entities) == [
                "thread: row_id_2 integer64, row_id string, key row_id_2",
                "comment: row_id integer64, text string, thread_row_id_2 integer64, thread_position integer64, "
                    + "comment_row_id integer64, comment_position integer64, key row_id, "
                    + "unique comment_thread thread_row_id_2+thread_position, "
                    + "unique comment_comment comment_row_id+comment_position, "
                    + "thread_row_id_2 to thread row_id_2 cascade, comment_row_id to comment row_id cascade",
            ]
        )
    }

    @Test func keepsSubentitiesInTheTableThatIsReferredTo() throws {
        let entities = """
            "shape": {"abstract": true, "identifier": ["id"], "attributes": {"id": {"type": "uuid"}}},
            "circle": {"parent": "shape", "attributes": {"radius": {"type": "double"}}},
            "square": {"parent": "shape", "attributes": {"side": {"type": "double"}, "entity": {"type": "string"}}},
            "drawing": {"attributes": {"name": {"type": "string"}},
              "relationships": {"first": {"entity": "shape", "optional": false}}}
            """
        #expect(
            try tables(entities) == [
                "shape: id uuid, radius double, side double, entity string, entity_2 string, unique shape_identifier id",
                "drawing: name string, first_id uuid, index drawing_first first_id, first_id to shape id restrict",
            ]
        )
    }

    @Test func identifiesNestedObjectsByTheirParent() throws {
        let entities = """
            "order": {"identifier": ["id"], "attributes": {"id": {"type": "uuid"}},
              "relationships": {"lines": {"entity": "line", "toMany": true, "inverse": "order"}}},
            "line": {"identifier": ["no", "@parent"], "attributes": {"no": {"type": "integer32"}},
              "relationships": {"order": {"entity": "order", "inverse": "lines", "column": "of"},
                "part": {"entity": "part"}}},
            "part": {"attributes": {"x": {"type": "string", "optional": true}}}
            """
        #expect(
            try tables(entities) == [
                "order: id uuid, unique order_identifier id",
                "line: no integer32, of uuid, order_position integer64, unique line_identifier of+no, index line_order of, "
                    + "of to order id setNull",
                "part: x string, line_no integer32, line_of uuid, line_position integer64, "
                    + "unique part_line line_no+line_of+line_position, line_no+line_of to line no+of cascade",
            ]
        )
    }
}
