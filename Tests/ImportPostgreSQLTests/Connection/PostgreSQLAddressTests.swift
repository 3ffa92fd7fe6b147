import Importer
import Testing

@testable import ImportPostgreSQL

struct PostgreSQLAddressTests {
    @Test func isToldFromAPath() {
        #expect(PostgreSQLAddress.isOne("postgresql://localhost/shop"))
        #expect(PostgreSQLAddress.isOne("postgres:///shop"))
        #expect(PostgreSQLAddress.isOne("PostgreSQL://localhost/shop"))
        #expect(!PostgreSQLAddress.isOne("postgresql.sqlite"))
        #expect(!PostgreSQLAddress.isOne("./postgresql://x"))
        #expect(!PostgreSQLAddress.isOne("postgresql:/shop"))
    }

    @Test(arguments: [
        "postgresql://importer:sesam@localhost/shop", "postgresql://localhost/shop?password=sesam",
        "postgresql://importer:sesam@localhost/shop?nothing=1", "postgresql://importer:ses%zzam@localhost/shop",
        "postgresql://importer:sesam/sesam@localhost/shop", "postgresql://importer:sesam?sesam@localhost/shop",
        "postgresql://importer:@sesam@localhost/shop", "postgresql://localhost/shop?%70assword=sesam",
        "postgresql://localhost/shop?sslpassword=sesam", "postgresql://localhost/shop?password=%zzsesam",
        "postgresql://importer:sesam/a?sesam@localhost/shop", "postgresql://importer:sesam/a?sesam=b@localhost/shop",
        "postgresql://importer:sesam#x@localhost", "postgresql://importer:sesam@[::1/shop",
        "POSTGRES://importer:sesam@localhost/shop",
    ])
    func withAPasswordIsRefusedAndDoesNotSayIt(_ address: String) {
        let error = #expect(throws: ImportError.self) { _ = try PostgreSQLAddress(address) }
        #expect(error?.code == .usage)
        #expect(error?.description.contains("sesam") == false)
    }

    @Test func withAPasswordNamesTheOtherWays() throws {
        let error = #expect(throws: ImportError.self) {
            _ = try PostgreSQLAddress("postgresql://importer:sesam@localhost/shop")
        }
        let advice = try #require(error?.advice)
        for way in ["~/.pgpass", "PGPASSFILE", "service file", "PGPASSWORD", "terminal"] {
            #expect(advice.contains(way), "\(way)")
        }
    }

    @Test(arguments: [
        (
            "postgresql://importer@db.example:5433/shop?sslmode=require&passfile=/x",
            "postgresql://importer@db.example:5433/shop"
        ),
        ("postgres://importer@/shop?host=/tmp/x&options=-csearch_path%3Da", "postgres://importer@/shop?host=/tmp/x"),
        ("postgresql://?service=shop&sslkey=/secret", "postgresql://?service=shop"),
        ("POSTGRESQL://a,b:5433/shop", "postgresql://a,b:5433/shop"),
    ])
    func isCalledWhatSaysWhichDatabaseItIs(_ address: String, _ label: String) throws {
        #expect(try PostgreSQLAddress(address).label == label)
    }

    @Test func thatCannotBeReadIsRefusedInTheWordsOfLibpq() {
        let error = #expect(throws: ImportError.self) {
            _ = try PostgreSQLAddress("postgresql://localhost/shop?nothing=1")
        }
        #expect(error?.code == .usage)
        #expect(error?.message.contains("nothing") == true)
    }

    @Test(arguments: ["host=localhost", "shop.sqlite", "", "postgresql://a/b\0?password=x"])
    func thatIsNoneIsRefused(_ address: String) {
        let error = #expect(throws: ImportError.self) { _ = try PostgreSQLAddress(address) }
        #expect(error?.reason == .optionInvalid)
    }

    @Test func hasNoPasswordWhereAParameterHasAnAtSign() throws {
        let address = try PostgreSQLAddress("postgresql://importer@localhost:5432/shop?application_name=me@home")
        #expect(address.settings["application_name"] == "me@home")
        #expect(address.settings["dbname"] == "shop")
    }
}
