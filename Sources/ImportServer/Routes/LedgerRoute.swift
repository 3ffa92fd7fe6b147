import ImportModel
import Importer

/// `/api/ledger`: what the import has changed or dropped on the way in.
struct LedgerRoute: Sendable {
    let routes: Routes

    func answer() async throws -> Response {
        var lines: [JSONValue] = []
        if let ledger = try await routes.inspect({ try $0.ledger() }) {
            for (entity, attributes) in ledger.sorted(by: { $0.key < $1.key }) {
                for (attribute, kinds) in attributes.sorted(by: { $0.key < $1.key }) {
                    for (kind, count) in kinds.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                        lines.append(Self.line(entity, attribute, kind, count))
                    }
                }
            }
        }
        return Response(["ledger": .array(lines)])
    }

    private static func line(_ entity: String, _ attribute: String, _ kind: String, _ count: Int64) -> JSONValue {
        let known = LedgerKind(rawValue: kind)
        return [
            "entity": .string(entity), "attribute": .string(attribute), "kind": .string(kind), "count": .integer(count),
            "loss": .boolean(known?.isLoss ?? false), "text": .string(known?.words ?? kind),
        ]
    }
}
