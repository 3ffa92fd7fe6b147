import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportEngine

/// The outcome does not depend on who saw which records, nor in which order.
struct InferringOrderTests {
    private func check(seed: UInt64, limits: InferenceLimits, _ random: inout SeededGenerator) {
        var records = RandomRecords(seed: seed)
        let texts = (0..<Int.random(in: 1...60, using: &random)).map { _ in records.next().text }
        let whole = gather(texts, limits: limits).entity(named: "e")
        for _ in 0..<2 {
            let parts = merged(texts, limits: limits, &random).entity(named: "e")
            #expect(parts.entity == whole.entity, "seed \(seed), \(limits)")
            #expect(parts.notices == whole.notices, "seed \(seed), \(limits)")
        }
    }

    @Test(arguments: 0..<8) func ofRandomRecordsUnderTheUsualLimits(part: UInt64) {
        var random = SeededGenerator(seed: part)
        for seed in part * 20..<part * 20 + 20 { check(seed: seed, limits: InferenceLimits(), &random) }
    }

    @Test(arguments: 0..<8) func ofRandomRecordsUnderTightLimits(part: UInt64) {
        var random = SeededGenerator(seed: part + 100)
        for seed in part * 50..<part * 50 + 50 {
            let charge = Int.random(in: 4...120, using: &random)
            let limits = InferenceLimits(
                charges: [charge, max(2, charge / 2), max(2, charge / 4), max(2, charge / 8)],
                keys: Int.random(in: 2...8, using: &random),
                recordKeys: Int.random(in: 4...20, using: &random),
                closedObjects: Int.random(in: 0...4, using: &random),
                closedCharge: Int.random(in: 0...8, using: &random),
                depth: Int.random(in: 1...4, using: &random),
                columns: Int.random(in: 1...20, using: &random),
                sampledValues: Int.random(in: 1...8, using: &random),
                sampledKeys: Int.random(in: 1...20, using: &random)
            )
            check(seed: seed, limits: limits, &random)
        }
    }

    /// What is full follows from its definition alone, worked out here from the set of all paths.
    @Test func whatIsFullFollowsFromThePathsAlone() {
        var counts = (full: 0, closed: 0)
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var records = RandomRecords(seed: seed)
            let values = (0..<20).map { _ in records.next() }
            let limits = InferenceLimits(
                charges: [Int.random(in: 20...100, using: &random), 12, 6],
                keys: 4,
                recordKeys: 12,
                closedObjects: Int.random(in: 0...3, using: &random),
                closedCharge: Int.random(in: 0...3, using: &random),
                depth: 8
            )
            let statistics = merged(values.map(\.text), limits: limits, &random)
            var root = SlowPath()
            for value in values { root.add(record: value.value) }
            compare(root, statistics, path: 0, depth: 0, limits, &counts)
        }
        #expect(counts.full > 50 && counts.closed > 20, "\(counts)")
    }

    private func compare(
        _ slow: SlowPath,
        _ statistics: EntityStatistics,
        path: Int,
        depth: Int,
        _ limits: InferenceLimits,
        isInClosed: Bool = false,
        _ counts: inout (full: Int, closed: Int)
    ) {
        let isFull = slow.isFull(depth: depth, isInClosed: isInClosed, limits)
        let isClosed = slow.isClosed(depth: depth, limits)
        #expect(statistics.paths[path].isFull == isFull)
        if isFull {
            counts.full += 1
            return
        }
        #expect(statistics.paths[path].isClosed == isClosed)
        if isClosed { counts.closed += 1 }
        let children = statistics.children(of: path)
        #expect(children.count == slow.children.count)
        for child in children {
            guard let next = slow.children[Array(statistics.key(of: child).utf8)] else {
                Issue.record("a path that is in no record")
                continue
            }
            compare(next, statistics, path: child, depth: depth + 1, limits, isInClosed: isClosed, &counts)
        }
    }
}

/// All paths of some records, without any limit.
private struct SlowPath {
    var children: [[UInt8]: SlowPath] = [:]
    var isNested = false

    /// Adds a record: a row of scalars has a key for each column.
    mutating func add(record: JSONValue) {
        guard case .array(let values) = record else { return add(record) }
        let areScalars = values.allSatisfy { value in
            switch value {
            case .object, .array: false
            case .null, .boolean, .number, .string: true
            }
        }
        guard areScalars else { return }
        add(.object(values.enumerated().map { .init(key: "column_\($0 + 1)", value: $1) }))
    }

    mutating func add(_ value: JSONValue) {
        guard case .object(let members) = value else { return }
        for member in members {
            switch member.value {
            case .object, .array: isNested = true
            default: break
            }
            children[Array(member.key.utf8), default: SlowPath()].add(member.value)
        }
    }

    private var ownCharge: Int { children.keys.reduce(0) { $0 + InferenceLimits.cost(ofKeyLength: $1.count) } }

    func isClosed(depth: Int, _ limits: InferenceLimits) -> Bool {
        let inside = children.values.reduce(0) { $0 + $1.charge(depth: depth + 1, limits) }
        return ownCharge + inside >= limits.charge(depth: depth)
    }

    func isFull(depth: Int, isInClosed: Bool = false, _ limits: InferenceLimits) -> Bool {
        if ownCharge > limits.keys(depth: depth) || ownCharge >= limits.charge(depth: depth) { return true }
        let objects = children.values.count { !$0.children.isEmpty }
        if depth > 0, objects > limits.closedObjects, isClosed(depth: depth, limits) { return true }
        return isInClosed && charge(depth: depth, limits) > limits.closedCharge
    }

    func charge(depth: Int, _ limits: InferenceLimits) -> Int {
        let limit = limits.charge(depth: depth)
        if isFull(depth: depth, limits) { return isNested ? limit : min(limit, limits.keys(depth: depth) + 1) }
        let inside = children.values.reduce(0) { $0 + $1.charge(depth: depth + 1, limits) }
        return min(limit, ownCharge + inside)
    }
}
