import Foundation
import ImportModel
import Importer

/// `/api/rejects` and `/api/reject/N`: records that were not accepted, in groups by what is wrong with them, and one by one.
struct RejectsRoute: Sendable {
    static let defaultLimit = 20
    static let mostLimit = 500

    let routes: Routes

    func answer(_ request: Request) async throws -> Response {
        guard let group = request.parameter("group") else { return Response(try await groups()) }
        let limit = try request.count("limit", default: Self.defaultLimit, most: Self.mostLimit)
        let after = request.parameter("after")
        let page = try await routes.inspect { try $0.rejects(in: group, after: after, limit: limit) }
        return Response([
            "rejects": .array((page?.rejects ?? []).map(members)), "next": page?.next.map { .string($0) } ?? .null,
        ])
    }

    func answer(number text: String) async throws -> Response {
        let found = try await routes.inspect { inspection in try Int64(text).flatMap { try inspection.reject($0) } }
        guard let reject = found ?? nil else {
            throw ResponseError(
                .notFound,
                code: "rejectNotFound",
                "there is no reject \(text.prefix(100))",
                advice: "Those that are open are in /api/rejects."
            )
        }
        return Response(
            RejectContent(reject: reject, store: routes.options.store, hidesValues: routes.options.hidesValues).members
        )
    }

    private func groups() async throws -> JSONValue {
        let found = try await routes.inspect { try $0.rejectGroups() }
        let groups = (found?.groups ?? []).map { group -> JSONValue in
            let errors = group.errors
            return [
                "group": .string(group.name), "entity": .string(errors.entity), "key_path": .string(errors.keyPath),
                "code": .string(errors.code), "expected": .string(errors.expected), "found": .string(errors.found),
                "count": .integer(errors.count), "text": .string(routes.options.groupText(errors)),
                "first": [
                    "source": .string(errors.first.source), "byte_offset": .integer(errors.first.byteOffset),
                    "record": .integer(errors.first.record),
                ],
            ]
        }
        return ["open": .integer(found?.open ?? 0), "groups": .array(groups)]
    }

    private func members(_ reject: StoreInspection.Reject) -> JSONValue {
        RejectContent(reject: reject, store: routes.options.store, hidesValues: routes.options.hidesValues).short
    }
}
