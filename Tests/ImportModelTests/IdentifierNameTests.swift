import ImportModel
import Testing

/// Which names say that their values identify something.
struct IdentifierNameTests {
    @Test(arguments: [
        "id", "_id", "ID", "Id", "uuid", "guid", "key", "code", "no", "number", "sku", "isbn", "isbn13", "ISBN-13",
        "product_id", "productId", "ProductID", "product-id", "Product ID", "OrderNo", "order_no", "Order No.",
        "IDNumber",
        "id_str", "customer.code", "eventID", "OBJECTID", "personid", "PERSONID", "person_number", "$oid",
    ])
    func isLikely(name: String) {
        #expect(IdentifierName.isLikely(name, of: "persons"))
    }

    @Test(arguments: [
        "dur", "v", "a", "", "_", "name", "paid", "bid", "valid", "void", "solid", "grid", "covid", "volcano", "casino",
        "idea", "ids", "keyboard", "codec", "monkey", "piano", "postcode_area", "time", "lat", "value", "amount",
    ])
    func isNot(name: String) {
        #expect(!IdentifierName.isLikely(name, of: "persons"))
    }

    @Test(arguments: [
        ("orderid", "orders"), ("countryid", "countries"), ("boxno", "boxes"), ("itemkey", "item"), ("user_code", "x"),
    ])
    func isThatOfItsEntity(name: String, entity: String) {
        #expect(IdentifierName.isLikely(name, of: entity))
    }

    @Test func isNotThatOfAnotherEntity() {
        #expect(!IdentifierName.isLikely("orderid", of: "customers"))
        #expect(!IdentifierName.isLikely("id2x", of: ""))
    }
}
