// Imports a JSON file and records of its own into a store, and reads the store back: `client people.json people.sqlite`.

import Foundation
import Importer

struct Person: FetchableObject {
    static let entityName = "people"
    let name: String
    let age: Int?
}

struct Visit: FetchableObject, Encodable, Equatable {
    static let entityName = "visit"
    let id: UUID
    let time: Date
    let price: Decimal
}

// In a function: at the top level of a file the compiler chooses the blocking forms, also after `await`.
func runClient() async throws {
    guard CommandLine.arguments.count == 3 else { exit(64) }
    let (source, store) = (CommandLine.arguments[1], CommandLine.arguments[2])

    // A view of a store that is not there yet.
    let reader = try StoreReader(awaiting: store)
    let view = try RecordView(FetchRequest(entity: "visit"), in: reader)
    print("\(view.snapshot.total) visits")

    let pipeline = ImportPipeline(
        sources: [source],
        into: store,
        job: JobOptions(entity: Person.entityName),
        run: RunOptions()
    )
    let running = Task { try await pipeline.run() }
    var end: ImportProgress.End?
    for await snapshot in pipeline.progress.snapshots { end = snapshot.end }
    let report = try await running.value.report
    print(end == .finished ? "finished" : "not finished")
    print("\(report.recordsRead) read, \(report.inserted) inserted, \(report.rejected) rejected")

    let people = try await Person.fetchAll(in: reader, sortedBy: [RecordSort("name")])
    for person in people {
        print(person.name, person.age.map { "is \($0)" } ?? "tells no age")
    }
    print("\(people.count) people")
    let limit = 40
    print("\(try await Person.fetchCount(in: reader, where: RecordPredicate("age > \(limit)"))) older than \(limit)")

    // Records of the program's own, as they come.
    let visits = (1...3).map { Visit(id: UUID(), time: Date(), price: Decimal($0) / 3) }
    let stream = AsyncStream { continuation in
        for visit in visits { continuation.yield(visit) }
        continuation.finish()
    }
    let second = ImportPipeline(records: stream, entity: Visit.entityName, into: store)
    let merges = second.merges.notifications()
    async let outcome = second.run()
    try await view.follow(merges) { _ in }
    _ = try await outcome
    print("\(view.snapshot.total) visits")
    print(try await Visit.fetchAll(in: reader) == visits ? "as they were given" : "others than were given")
}

try await runClient()
