import Foundation
import TestSupport
import Testing

/// Who is answered: by its host, by its origin, and by its token.
struct ServeAccessTests {
    @Test func onlyTheOwnHostIsAnswered() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(directory.path("none.sqlite"))
        let port = served.client.port
        for host in ["127.0.0.1:\(port)", "localhost:\(port)", "LOCALHOST:\(port)", "[::1]:\(port)"] {
            #expect(try served.client.ask("/", headers: ["Host": host]).status == 200, "\(host)")
        }
        let others = [
            "", "example.com", "example.com:\(port)", "127.0.0.1", "localhost", "127.0.0.1:\(port ^ 1)",
            "127.0.0.1:\(port).example.com", "127.0.0.1:\(port)@example.com", "localhost.:\(port)", "10.0.0.1:\(port)",
        ]
        for host in others {
            for path in ["/", "/api/status", "/events", "/metrics"] {
                let answer = try served.client.ask(path, headers: ["Host": host])
                #expect(answer.status == 403, "\(host) \(path)")
                #expect(try answer.errorCode == "host")
            }
        }
    }

    @Test func noOtherSiteIsAnswered() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(directory.path("none.sqlite"))
        func status(_ path: String, _ headers: [String: String]) throws -> Int {
            try served.client.ask(path, headers: headers).status
        }
        #expect(try status("/api/status", ["Origin": "http://\(served.client.host)"]) == 200)
        for origin in ["http://example.com", "null", "https://\(served.client.host)", "http://127.0.0.1"] {
            #expect(try status("/api/status", ["Origin": origin]) == 403, "\(origin)")
            #expect(try status("/", ["Origin": origin]) == 403, "\(origin)")
        }
        for site in ["same-origin", "none"] { #expect(try status("/api/status", ["Sec-Fetch-Site": site]) == 200) }
        for site in ["cross-site", "same-site"] {
            #expect(try status("/api/status", ["Sec-Fetch-Site": site]) == 403)
            #expect(try status("/events", ["Sec-Fetch-Site": site]) == 403)
            // A link leads to the page.
            #expect(try status("/", ["Sec-Fetch-Site": site]) == 200)
        }
    }

    @Test func aProxyIsAnsweredByItsName() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(directory.path("none.sqlite"), "--host", "imports.example.com")
        func status(_ headers: [String: String]) throws -> Int {
            try served.client.ask("/api/status", headers: headers).status
        }
        let host = "imports.example.com"
        #expect(try status(["Host": host]) == 200)
        #expect(try status(["Host": host, "Origin": "https://\(host)"]) == 200)
        #expect(try status(["Host": "other.example.com"]) == 403)
        #expect(try status(["Host": "imports.example.com.evil.com"]) == 403)
        #expect(try status(["Host": host, "Origin": "https://other.example.com"]) == 403)
        #expect(try status(["Origin": "https://\(host)"]) == 403)
    }

    @Test func anAddressThatOthersReachHasAToken() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(directory.path("none.sqlite"), "--bind", "0.0.0.0")
        let token = try #require(served.address.firstMatch(of: /\/\?token=([0-9a-f]{32})$/)?.output.1)
        #expect(served.child.outputSoFar.components(separatedBy: token).count == 2)
        let cookie = "importer_\(served.client.port)=\(token)"
        for path in ["/", "/api/status", "/events", "/metrics", "/nothing"] {
            let answer = try served.client.ask(path)
            #expect(answer.status == 403, "\(path)")
            #expect(try answer.errorCode == "token")
        }
        let wrong = [String(token.dropLast()), token + "0", String(repeating: "0", count: 32), ""]
        for guess in wrong {
            #expect(try served.client.ask("/?token=\(guess)").status == 403, "\(guess)")
            #expect(
                try served.client.ask("/", headers: ["Cookie": "importer_\(served.client.port)=\(guess)"]).status == 403
            )
        }
        let redirect = try served.client.ask("/?token=\(token)")
        #expect(redirect.status == 303)
        #expect(redirect.headers["location"] == "/")
        #expect(redirect.headers["set-cookie"] == "\(cookie); Path=/; HttpOnly; SameSite=Strict")
        #expect(redirect.body.isEmpty)
        let deep = try served.client.ask("//example.com/?a=b&token=\(token)&c=d")
        #expect(deep.headers["location"] == "/example.com/?a=b&c=d")
        #expect(try served.client.ask("/", headers: ["Cookie": "a=b; \(cookie)"]).status == 200)
        #expect(try served.client.ask("/metrics", headers: ["Authorization": "Bearer \(token)"]).status == 200)
        // The token is no way around the host.
        #expect(try served.client.ask("/?token=\(token)", headers: ["Host": "example.com"]).status == 403)
        #expect(try served.client.ask("/", method: "POST", headers: ["Cookie": cookie]).status == 405)
    }

    @Test func twoServersHaveDifferentTokens() throws {
        let directory = try TemporaryDirectory()
        let one = try ServedStore(directory.path("none.sqlite"), "--bind", "0.0.0.0")
        let other = try ServedStore(directory.path("none.sqlite"), "--bind", "0.0.0.0")
        #expect(one.address.suffix(32) != other.address.suffix(32))
    }
}
