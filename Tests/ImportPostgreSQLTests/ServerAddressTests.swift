import ImportPostgreSQL
import Importer
import Testing

struct ServerAddressTests {
    @Test func isToldFromAPath() {
        #expect(ServerAddress.isOne("postgresql://localhost/shop"))
        #expect(ServerAddress.isOne("postgres:///shop"))
        #expect(!ServerAddress.isOne("postgresql.sqlite"))
        #expect(!ServerAddress.isOne("./postgresql://x"))
    }

    @Test func withAPasswordIsRefusedAndDoesNotSayIt() {
        for address in [
            "postgresql://importer:sesam@localhost/shop", "postgresql://localhost/shop?password=sesam",
            "postgresql://importer:sesam@localhost/shop?nothing=1", "postgresql://importer:ses%zzam@localhost/shop",
        ] {
            let error = #expect(throws: ImportError.self) { _ = try ServerAddress(address) }
            #expect(error?.code == .usage)
            #expect(error?.description.contains("sesam") == false)
        }
    }

    @Test func isCalledWhatItIsWithoutParameters() throws {
        #expect(
            try ServerAddress("postgresql://importer@db.example:5433/shop?sslmode=require&passfile=/x").label
                == "postgresql://importer@db.example:5433/shop"
        )
    }

    @Test func thatCannotBeReadIsRefused() {
        let error = #expect(throws: ImportError.self) { _ = try ServerAddress("postgresql://localhost/shop?nothing=1") }
        #expect(error?.code == .usage)
        #expect(error?.message.contains("nothing") == true)
    }
}
