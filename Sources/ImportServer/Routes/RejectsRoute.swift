import Foundation
import ImportModel
import Importer

/// `/api/rejects` and `/api/reject/N`: records that were not accepted, in groups by what is wrong with them, and one by one.
struct RejectsRoute: Sendable {
    static let defaultLimit = 20
    static let mostLimit = 500

    let routes: Routes

    func answer(_ request: Request) async throws -> Answer {
        guard let group = request.parameter("group") else { return Answer(try await groups()) }
        let limit = try request.count("limit", default: Self.defaultLimit, most: Self.mostLimit)
        let after = request.parameter("after")
        let page = try await routes.inspect { try $0.rejects(in: group, after: after, limit: limit) }
        var content = JSONMembers()
        content["rejects"] = .array((page?.rejects ?? []).map { members($0).value })
        content["next"] = page?.next.map { .string($0) } ?? .null
        return Answer(content)
    }

    func answer(number text: String) async throws -> Answer {
        let found = try await routes.inspect { inspection in try Int64(text).flatMap { try inspection.reject($0) } }
        guard let reject = found ?? nil else {
            throw AnswerError(
                .notFound,
                code: "rejectNotFound",
                "there is no reject \(text.prefix(100))",
                advice: "Those that are open are in /api/rejects."
            )
        }
        return Answer(
            RejectContent(reject: reject, store: routes.options.store, hidesValues: routes.options.hidesValues).members
        )
    }

    private func groups() async throws -> JSONMembers {
        let found = try await routes.inspect { try $0.rejectGroups() }
        var content = JSONMembers()
        content["open"] = .integer(found?.open ?? 0)
        content["groups"] = .array(
            (found?.groups ?? []).map { group in
                let errors = group.errors
                var first = JSONMembers()
                first["source"] = .string(errors.first.source)
                first["byte_offset"] = .integer(errors.first.byteOffset)
                first["record"] = .integer(errors.first.record)
                var members = JSONMembers()
                members["group"] = .string(group.name)
                members["entity"] = .string(errors.entity)
                members["key_path"] = .string(errors.keyPath)
                members["code"] = .string(errors.code)
                members["expected"] = .string(errors.expected)
                members["found"] = .string(errors.found)
                members["count"] = .integer(errors.count)
                members["text"] = .string(routes.options.groupText(errors))
                members["first"] = first.value
                return members.value
            }
        )
        return content
    }

    private func members(_ reject: StoreInspection.Reject) -> JSONMembers {
        RejectContent(reject: reject, store: routes.options.store, hidesValues: routes.options.hidesValues).short
    }
}
