import ImportModel
import Importer
import Testing

@testable import ImportServer

/// Addresses, parameters and hosts, as they come from anybody.
struct RequestTests {
    private func request(_ path: String, _ query: String = "") throws -> Request {
        try Request(method: "GET", path: path, query: query, headers: [:])
    }

    @Test func partsAreDecodedOnceAndApart() throws {
        #expect(try request("/").parts == [""])
        #expect(try request("/api/records/a%2Fb%252F").parts == ["api", "records", "a/b%2F"])
        #expect(try request("/a+b").parts == ["a+b"])
        #expect(try request("//x").parts == ["", "x"])
        let parameters = try request("/", "a=1&b=%2B+%26&c&d=e=f&a=2&=x").parameters
        #expect(parameters == ["a": "2", "b": "+ &", "c": "", "d": "e=f", "": "x"])
    }

    @Test(arguments: ["/%", "/%4", "/%zz", "/%FF", "/%C3%28"])
    func whatIsNoTextIsRefused(path: String) {
        #expect(throws: ResponseError.self) { try request(path) }
    }

    @Test func wildcardsAreAskedByAddressesOnly() {
        let hosts = AllowedHosts(address: "0.0.0.0", port: 80, others: ["proxy.example.com", "other.example.com:8443"])
        for host in [
            "10.0.0.1", "10.0.0.1:80", "[fe80::1]", "[fe80::1]:80", "proxy.example.com", "other.example.com:8443",
        ] {
            #expect(hosts.allows(host: host), "\(host)")
        }
        for host in [
            "evil.com", "10.0.0.1:81", "[fe80::1", "[fe80::1]x", "fe80::1", "other.example.com", ":80", "",
        ] {
            #expect(!hosts.allows(host: host), "\(host)")
        }
        #expect(!hosts.allows(host: nil))
    }

    @Test func numbersThatJavaScriptRoundsAreTexts() {
        #expect(JSONValue.integer(1 << 53 - 1) == .number("\(1 << 53 - 1)"))
        #expect(JSONValue.integer(9_007_199_254_740_991) == .number("9007199254740991"))
        #expect(JSONValue.integer(9_007_199_254_740_992) == .string("9007199254740992"))
        #expect(JSONValue.integer(.min) == .string("-9223372036854775808"))
        #expect(JSONValue.double(.infinity) == .string("inf"))
    }

    @Test func aMistakeIsCountedInUnitsOfUTF16() throws {
        let error = RecordPredicateError("what", in: "'𝄞é' = agee", at: 11..<15)
        #expect(ResponseError(error).place == 8..<12)
        let beyond = RecordPredicateError("what", in: "é", at: 2..<900)
        #expect(ResponseError(beyond).place == 1..<1)
    }
}
