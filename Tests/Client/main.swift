// Imports a JSON file into a store and reads the store back: `client people.json people.sqlite`.

import Foundation
import Importer

struct Person: FetchableObject {
    static let entityName = "people"
    let name: String
    let age: Int?
}

guard CommandLine.arguments.count == 3 else { exit(64) }
let (source, store) = (CommandLine.arguments[1], CommandLine.arguments[2])

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

let people = try await Person.fetchAll(in: StoreReader(store: store), sortedBy: [RecordSort("name")])
for person in people {
    print(person.name, person.age.map { "is \($0)" } ?? "tells no age")
}
print("\(people.count) people")
