import Foundation
import TestSupport
import Testing

/// Real files with models written for them: every column is what Python reads in the file.
@Suite(.enabled(if: SharedData.isPresent, "there is no shared/data beside the package"))
struct RealModelTests {
    /// A file and its model; the entity's name is that of the case in `real_models.py`.
    struct Source: Sendable, CustomTestStringConvertible {
        let entity: String
        let file: String
        var records = "$"
        var identifier = ""
        let attributes: String
        var count: Int
        var rejected = 0
        /// What the ledger must have: `ATTRIBUTE KIND COUNT`.
        var ledger: Set<String> = []

        var testDescription: String { file }
        var path: String { SharedData.path(file) }
        var model: String {
            """
            {"entities": {"\(entity)": {"records": "\(records)",
            \(identifier.isEmpty ? "" : "\"identifier\": \(identifier),") "attributes": {
            \(attributes)}}}}
            """
        }
    }

    private static let countries = Source(
        entity: "country",
        file: "countries-states-cities/countries.json",
        records: "$[*]",
        identifier: #"["id"]"#,
        attributes: #"""
            "id": {"type": "integer32"},
            "code": {"type": "string", "from": "iso3", "pattern": "^[A-Z]{3}$"},
            "number": {"type": "integer16", "from": "numeric_code"},
            "digits": {"type": "string", "from": "numeric_code"},
            "latitude": {"type": "double", "min": -90, "max": 90},
            "longitude": {"type": "decimal", "min": -180, "max": 180},
            "population": {"type": "integer64", "optional": true},
            "gdp": {"type": "double", "optional": true},
            "french": {"type": "string", "from": "translations.fr", "optional": true},
            "flag": {"type": "string", "from": "emoji"},
            "zones": {"type": "json", "from": "timezones"},
            "capital": {"type": "string", "optional": true}
            """#,
        count: 250,
        ledger: ["number kindChanged 250", "latitude kindChanged 250", "longitude kindChanged 250"]
    )

    private static let tweets = Source(
        entity: "tweet",
        file: "twitter.json",
        records: "$.statuses[*]",
        identifier: #"["id"]"#,
        attributes: #"""
            "id": {"type": "integer64"},
            "text": {"type": "string", "transform": ["htmlUnescape"]},
            "created": {"type": "date", "from": "created_at", "format": "EEE MMM dd HH:mm:ss Z yyyy"},
            "joined": {"type": "date", "from": "user.created_at", "format": ["iso8601", "EEE MMM dd HH:mm:ss Z yyyy"]},
            "author": {"type": "string", "from": "user.screen_name"},
            "reply": {"type": "integer64", "from": "in_reply_to_status_id", "optional": true},
            "original": {"type": "string", "from": "retweeted_status.id_str", "optional": true},
            "retweets": {"type": "integer32", "from": "retweet_count"},
            "isFavorite": {"type": "boolean", "from": "favorited"}
            """#,
        count: 100
    )

    static let sources = [
        countries, tweets,
        Source(
            entity: "movie",
            file: "vega-movies.json.gz",
            records: "$[*]",
            attributes: #"""
                "title": {"type": "string", "from": "['Title']", "optional": true},
                "gross": {"type": "decimal", "from": "['US Gross']", "optional": true},
                "worldwide": {"type": "integer64", "from": "['Worldwide Gross']", "optional": true},
                "dvd": {"type": "integer64", "from": "['US DVD Sales']", "optional": true},
                "budget": {"type": "double", "from": "['Production Budget']", "optional": true},
                "released": {"type": "date", "from": "['Release Date']", "format": "MMM dd yyyy"},
                "minutes": {"type": "integer16", "from": "['Running Time min']", "optional": true},
                "rating": {"type": "double", "from": "['IMDB Rating']", "optional": true},
                "votes": {"type": "string", "from": "['IMDB Votes']", "optional": true}
                """#,
            count: 3_201,
            ledger: ["title kindChanged 9", "votes kindChanged 2988"]
        ),
        Source(
            entity: "citation",
            file: "parking-citations.ndjson.gz",
            identifier: #"["code"]"#,
            attributes: #"""
                "ticket": {"type": "integer64", "from": "Ticket"},
                "code": {"type": "string", "from": "Ticket"},
                "fine": {"type": "integer32", "from": "Fine", "transform": ["emptyToNull"], "optional": true},
                "amount": {"type": "decimal", "from": "Fine", "transform": ["trim", "emptyToNull"], "optional": true},
                "issued": {"type": "date", "from": "IssueData", "format": "yyyy-MM-dd'T'HH:mm:ss",
                           "timeZone": "America/Los_Angeles", "storage": "unix"},
                "latitude": {"type": "double", "from": "Latitude"},
                "longitude": {"type": "decimal", "from": "Longitude"},
                "make": {"type": "string", "from": "Make", "transform": ["trim", "lowercase", "emptyToNull"],
                         "optional": true}
                """#,
            count: 1_000,
            ledger: [
                "fine kindChanged 35", "fine transformed 11", "amount kindChanged 35", "amount transformed 11",
                "ticket kindChanged 1000",
            ]
        ),
        Source(
            entity: "book",
            file: "mongodb-json-files/books.json.gz",
            attributes: #"""
                "object": {"type": "string", "from": "_id['$oid']", "optional": true, "pattern": "^[0-9a-f]{24}$"},
                "id": {"type": "json", "from": "_id"},
                "title": {"type": "string"},
                "isbn": {"type": "string", "optional": true},
                "pages": {"type": "integer16", "from": "pageCount"},
                "published": {"type": "date", "from": "publishedDate", "format": "mongo", "optional": true},
                "local": {"type": "date", "from": "publishedDate", "format": ["iso8601", "mongo"], "wallClock": true,
                          "optional": true},
                "cover": {"type": "uri", "from": "thumbnailUrl", "optional": true},
                "authors": {"type": "json"}
                """#,
            count: 431
        ),
        Source(
            entity: "restaurant",
            file: "mongodb-json-files/restaurant.json.gz",
            identifier: #"["object"]"#,
            attributes: #"""
                "object": {"type": "string", "from": "_id['$oid']"},
                "name": {"type": "string", "transform": ["htmlUnescape"]},
                "address": {"type": "string"},
                "town": {"type": "string", "from": "['address line 2']"},
                "rating": {"type": "double"}
                """#,
            count: 2_548,
            rejected: 63,
            ledger: ["address kindChanged 4"]
        ),
        Source(
            entity: "profile",
            file: "mongodb-json-files/profiles.json.gz",
            identifier: #"["object", "at"]"#,
            attributes: #"""
                "object": {"type": "string", "from": "_id['$oid']"},
                "at": {"type": "date", "from": "ts", "format": "mongo", "storage": "unixMilliseconds"},
                "millis": {"type": "integer32"},
                "scanned": {"type": "integer64", "from": "nscanned", "optional": true},
                "cursor": {"type": "double", "from": "cursorid", "optional": true},
                "locked": {"type": "integer64", "from": "lockStats.timeLockedMicros.w", "optional": true},
                "op": {"type": "string", "enum": ["insert", "query", "command", "getmore"]}
                """#,
            count: 1_515
        ),
        Source(
            entity: "order",
            file: "northwind-odata/Orders.json",
            records: "$.d.results[*]",
            identifier: #"["id"]"#,
            attributes: #"""
                "id": {"type": "integer32", "from": "OrderID"},
                "customer": {"type": "string", "from": "CustomerID", "minLength": 5, "maxLength": 5},
                "ordered": {"type": "date", "from": "OrderDate", "format": "dotnet"},
                "required": {"type": "date", "from": "RequiredDate", "format": ["yyyy-MM-dd", "dotnet"]},
                "shipped": {"type": "date", "from": "ShippedDate", "format": "dotnet", "storage": "unixMilliseconds"},
                "freight": {"type": "decimal", "from": "Freight"},
                "region": {"type": "string", "from": "ShipRegion", "optional": true},
                "link": {"type": "uri", "from": "__metadata.uri"}
                """#,
            count: 200,
            ledger: ["freight kindChanged 200"]
        ),
        Source(
            entity: "detail",
            file: "northwind-odata/Order_Details.json",
            records: "$.d.results[*]",
            identifier: #"["order", "product"]"#,
            attributes: #"""
                "order": {"type": "integer32", "from": "OrderID"},
                "product": {"type": "string", "from": "ProductID"},
                "price": {"type": "decimal", "from": "UnitPrice"},
                "cost": {"type": "float", "from": "UnitPrice"},
                "quantity": {"type": "integer16", "from": "Quantity", "min": 1},
                "discount": {"type": "double", "from": "Discount", "min": 0, "max": 1}
                """#,
            count: 500,
            ledger: ["product kindChanged 500", "price kindChanged 500"]
        ),
        Source(
            entity: "city",
            file: "countries-states-cities/cities-GB.json.gz",
            records: "$[*]",
            identifier: #"["id"]"#,
            attributes: #"""
                "id": {"type": "integer32"},
                "name": {"type": "string"},
                "latitude": {"type": "double"},
                "longitude": {"type": "double"},
                "created": {"type": "date", "from": "created_at", "timeZone": "Europe/London"},
                "updated": {"type": "date", "from": "updated_at", "timeZone": "Europe/London"},
                "flagged": {"type": "boolean", "from": "flag"}
                """#,
            count: 3_881,
            rejected: 2
        ),
    ]

    @Test(arguments: sources)
    func readsWhatPythonReads(_ source: Source) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let model = try directory.write(source.model, to: "model.json")
        let checked = try runImporter("model", "check", model)
        #expect(checked.ending == .exit(0), "\(checked.outputText) \(checked.errorText)")
        let command = [Project.importer, "import", source.path, "--model", model, "--json", "--into"]
        let result = try run(command + [store])
        try #require(result.ending == .exit(0), "\(result.errorText)")
        let report = try Report(result.output)
        #expect(report.read == source.count)
        #expect(report.rejected == source.rejected)
        #expect(report.inserted == source.count - source.rejected)
        let compared = try Python.run("real_models.py", [source.entity, source.path, store])
        #expect(compared.ending == .exit(0), "\(compared.outputText) \(compared.errorText)")
        let ledger = try StoreContent.query(
            store,
            "SELECT attribute || ' ' || kind || ' ' || count FROM _import_ledger"
        )
        let counted = Set(ledger.split(separator: "\n").map(String.init))
        #expect(counted.isSuperset(of: source.ledger), "\(counted.filter { !$0.contains("unknownKey") }.sorted())")
        #expect(try runImporter("verify", store).ending == .exit(0))

        let other = directory.path("other.sqlite")
        let small = try run(command + [other, "--workers", "4", "--chunk-size", "5K", "--commit-every", "17"])
        #expect(small.ending == .exit(0), "\(small.errorText)")
        #expect(try StoreContent.result(other) == StoreContent.result(store))
    }

    /// A record is imported again: what it says that is stored already changes nothing, and what it does not say either.
    @Test(
        arguments: [
            (countries, #""capital": "Kabul","#, #""capital": "Kābul","#),
            (tweets, "\n      \"retweet_count\": 58,", "\n      \"retweet_count\": 59,"),
        ]
    )
    func changesOnlyWhatHasChanged(_ source: Source, member: String, changed: String) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let model = try directory.write(source.model, to: "model.json")
        func imported(_ path: String, _ options: [String] = []) throws -> Report {
            let job = ["--into", store, "--model", model, "--entity", source.entity, "--json"]
            let result = try run([Project.importer, "import", path] + job + options)
            try #require(result.ending == .exit(0), "\(result.errorText)")
            #expect(try runImporter("verify", store).ending == .exit(0))
            return try Report(result.output)
        }

        #expect(try imported(source.path).inserted == source.count)
        let first = try StoreContent.digest(store)
        let again = try imported(source.path, ["--again"])
        #expect(again.unchanged == source.count && again.read == source.count)
        #expect(try StoreContent.digest(store) == first)

        let whole = try String(contentsOfFile: source.path, encoding: .utf8)
        let place = try #require(whole.firstRange(of: member))
        let lacking = try directory.write(whole.replacingCharacters(in: place, with: ""), to: "lacking.json")
        let missing = try imported(lacking)
        #expect(missing.unchanged == source.count && missing.read == source.count)
        #expect(try StoreContent.digest(store) == first)

        let other = try directory.write(whole.replacingCharacters(in: place, with: changed), to: "changed.json")
        let update = try imported(other, ["--chunk-size", "20K"])
        #expect(update.updated == 1)
        #expect(update.unchanged == source.count - 1)
        #expect(update.read == source.count)
        let expected = directory.path("expected.sqlite")
        let anew = [Project.importer, "import", other, "--into", expected, "--model", model, "--entity", source.entity]
        #expect(try run(anew).ending == .exit(0))
        #expect(try StoreContent.digest(store) == StoreContent.digest(expected))
        #expect(try StoreContent.digest(store) != first)
    }
}
