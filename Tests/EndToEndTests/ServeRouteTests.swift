import Foundation
import TestSupport
import Testing

/// Which paths there are, which methods, and what every answer has.
struct ServeRouteTests {
    private static let paths = [
        "/", "/api/status", "/api/entities", "/api/records/people", "/api/record/people/1",
        "/api/distribution/people/age", "/api/rejects", "/api/reject/1", "/api/ledger", "/api/jobs", "/metrics",
    ]

    /// A store with rejects.
    private static func store(_ directory: TemporaryDirectory) throws -> String {
        try FedRecords.finishedStore(directory)
    }

    private func checkHeaders(_ answer: HTTPClient.Response, _ what: String) {
        #expect(answer.headers["x-content-type-options"] == "nosniff", "\(what)")
        #expect(answer.headers["referrer-policy"] == "no-referrer", "\(what)")
        #expect(answer.headers["cache-control"] == "no-store", "\(what)")
        #expect(answer.headers["cross-origin-resource-policy"] == "same-origin", "\(what)")
        let policy = answer.headers["content-security-policy"] ?? ""
        #expect(policy.hasPrefix("default-src 'none'; script-src 'sha256-"), "\(what)")
        #expect(policy.hasSuffix("base-uri 'none'; form-action 'none'; frame-ancestors 'none'"), "\(what)")
        #expect(!policy.contains("unsafe"), "\(what)")
        #expect(answer.headers.keys.allSatisfy { !$0.hasPrefix("access-control-") }, "\(what)")
    }

    @Test func everyRouteAnswersWithTheHeadersOfAll() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(Self.store(directory))
        for path in Self.paths {
            let answer = try served.client.ask(path)
            #expect(answer.status == 200, "\(path): \(answer.text)")
            #expect(answer.headers["content-length"] == "\(answer.body.count)", "\(path)")
            checkHeaders(answer, path)
            if path.hasPrefix("/api/") {
                #expect(answer.headers["content-type"] == "application/json; charset=utf-8", "\(path)")
                #expect(try !answer.json.isEmpty, "\(path)")
            }
            let head = try served.client.ask(path, method: "HEAD")
            #expect(head.status == 200 && head.body.isEmpty, "\(path)")
            #expect(head.headers["content-type"] == answer.headers["content-type"], "\(path)")
        }
        let stream = try EventReader(served.client)
        #expect(stream.answer.status == 200)
        #expect(stream.answer.headers["content-type"] == "text/event-stream; charset=utf-8")
        checkHeaders(stream.answer, "/events")
    }

    @Test func nothingIsAnywhereElse() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(Self.store(directory))
        let paths = [
            "/index.html", "/api", "/api/", "/api/nothing", "/api/records", "/api/records/people/1",
            "/api/record/people",
            "/events/", "/../etc/passwd", "//", "/api/records/nobody", "/api/record/people/0", "/api/record/people/x",
            "/api/distribution/people/nothing", "/api/reject/9999", "/api/reject/x",
        ]
        for path in paths {
            let answer = try served.client.ask(path)
            #expect([400, 404].contains(answer.status), "\(path): \(answer.status)")
            #expect(try answer.errorCode != nil, "\(path)")
            checkHeaders(answer, path)
        }
        #expect(try served.client.ask("/api/records/nobody").status == 404)
        #expect(try served.client.ask("/nothing").status == 404)
    }

    @Test func onlyGETAndHEADAreAnswered() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(Self.store(directory))
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
            for path in ["/", "/api/status", "/events", "/nothing"] {
                let answer = try served.client.ask(path, method: method)
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(answer.headers["allow"] == "GET, HEAD")
                #expect(try answer.errorCode == "method_not_allowed")
                checkHeaders(answer, path)
            }
        }
    }

    /// A body that is never read must not be taken for the next request.
    @Test(arguments: [100, 3_000_000])
    func aBodyIsNoRequest(size: Int) throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(Self.store(directory))
        let connection = try HTTPClient.Connection(port: served.client.port)
        let hidden = "GET /api/status HTTP/1.1\r\nHost: \(served.client.host)\r\n\r\n"
        try connection.send(
            "POST / HTTP/1.1\r\nHost: \(served.client.host)\r\nContent-Length: \(size)\r\n\r\n\(hidden)"
        )
        // Some of the rest, as far as anybody reads it.
        try? connection.send(String(repeating: "x", count: size - hidden.utf8.count))
        let text = String(decoding: (try? connection.readAll()) ?? Data(), as: UTF8.self)
        #expect(text.components(separatedBy: "HTTP/1.1 ").count <= 2, "\(text.suffix(300))")
        #expect(!text.contains("records_read"))
        #expect(try served.client.ask("/api/status").status == 200)
    }

    @Test func longAddressesAreRefused() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(Self.store(directory))
        let fits = "/api/records/people?where=" + ServedStore.escaped("id = 1") + "&x="
        let answer = try served.client.ask(fits + String(repeating: "x", count: 8_192 - fits.utf8.count))
        #expect(answer.status == 200)
        let long = try served.client.ask(fits + String(repeating: "x", count: 8_193 - fits.utf8.count))
        #expect(long.status == 414)
        #expect(try long.errorCode == "target_too_long")
        checkHeaders(long, "a long address")
    }

    /// A head that is too long, all at once or not ended, or that stops half-way, is answered before it is looked into.
    @Test(arguments: [(15_000, "\r\n\r\n", "200"), (17_000, "\r\n\r\n", "431"), (100_000, "", "431"), (10, "", "408")])
    func headsHaveLimits(size: Int, end: String, status: String) throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(Self.store(directory))
        let connection = try HTTPClient.Connection(port: served.client.port)
        let start = "GET /api/status HTTP/1.1\r\nHost: \(served.client.host)\r\nConnection: close\r\nX: "
        try connection.send(start + String(repeating: "x", count: size) + end)
        let text = String(decoding: try connection.readAll(), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text.prefix(300))")
    }

    /// Whatever is wrong, the answer says what to do.
    @Test func everyErrorHasAdvice() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(Self.store(directory))
        let predicates = [
            "agee > 3", "age >", "age", "age & 3", "age = 'x'", "id in (1, null)", "age like 'x'", ")", "a ? 1",
        ]
        let paths =
            predicates.map { "/api/records/people?where=" + ServedStore.escaped($0) } + [
                "/nothing", "/api/records/nobody", "/api/record/people/0", "/api/distribution/people/nothing",
                "/api/reject/9999", "/api/records/people?sort=nothing", "/api/records/people?sort=,",
                "/api/records/people?section=nothing", "/api/records/people?after=x", "/api/records/people?limit=0",
                "/api/rejects?group=x", "/api/records/%", "/" + String(repeating: "x", count: 9_000),
            ]
        for path in paths {
            let answer = try served.client.ask(path)
            let error = try #require(try answer.json["error"] as? [String: Any], "\(path)")
            #expect((error["advice"] as? String)?.isEmpty == false, "\(path): \(answer.text)")
        }
    }

    @Test func brokenEscapesAreRefused() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(Self.store(directory))
        for target in ["/api/records/%", "/api/records/people?where=%zz", "/api/records/%ff%fe", "/?a=%C3"] {
            #expect(try served.client.ask(target).status == 400, "\(target)")
        }
    }

    /// The policy lets exactly the page's own script and style run.
    @Test func thePolicyHasTheHashesOfThePage() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(Self.store(directory))
        let answer = try served.client.ask("/")
        let page = try directory.write(answer.body, to: "page.html")
        let hashes = try Python.run(
            text: """
                import base64, hashlib, re, sys
                page = open(sys.argv[1], encoding="utf-8", newline="").read()
                for name in ("script", "style"):
                    found = re.findall(rf"<{name}[^>]*>(.*?)</{name}>", page, re.S)
                    assert len(found) == 1, name
                    print(f"{name}-src 'sha256-" + base64.b64encode(hashlib.sha256(found[0].encode()).digest()).decode() + "'")
                """,
            [page]
        )
        #expect(hashes.ending == .exit(0), "\(hashes.errorText)")
        for source in hashes.outputText.split(separator: "\n") {
            #expect(answer.headers["content-security-policy"]?.contains("; \(source)") == true, "\(source)")
        }
    }
}
