import ImportModel
import Importer

/// What commits have changed, as an event.
enum MergeEvent {
    /// The keys of at most this many records are named, of each entity.
    static let mostKeys = 500

    /// The event of a notification.
    static func event(_ merge: MergeNotification) -> ServerEvent {
        let id = "\(merge.position.sequence)-\(String(UInt64(bitPattern: merge.position.stamp), radix: 16))"
        guard !merge.needsRefresh else {
            return EventHub.refresh("more has changed than is known one by one", id: id)
        }
        var entities: JSONValue = [:]
        for change in merge.changes where change.inserted != 0 || change.updated != 0 || change.deleted != 0 {
            entities[change.entity] = [
                "inserted": .integer(change.inserted), "updated": .integer(change.updated),
                "deleted": .integer(change.deleted),
                "keys": .strings(keys(change.insertedRanges + change.updatedRanges).map(String.init)),
            ]
        }
        let data: JSONValue = ["sequence": .integer(merge.position.sequence), "entities": entities]
        return ServerEvent(.merge, id: id, data: Array(data.serialized().utf8))
    }

    private static func keys(_ ranges: [ClosedRange<Int64>]) -> [Int64] {
        var keys: [Int64] = []
        for range in ranges where keys.count < mostKeys { keys += range.prefix(mostKeys - keys.count) }
        return keys
    }
}
