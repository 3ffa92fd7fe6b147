import GRDB
import ImportModel
import Importer
import Testing

@testable import ImportChanges

/// Work on a connection that takes long, and the interruption that ends it.
struct InterruptedWorkTests {
    @Test func endsInTheMiddleOfAStatementAndIsRolledBack() throws {
        let (queue, interruption) = (try DatabaseQueue(), Interruption())
        try queue.inDatabase { try $0.execute(sql: "CREATE TABLE made (number INTEGER)") }
        let error = #expect(throws: ImportError.self) {
            try queue.write { database in
                // The statement would go on without end.
                database.add(
                    function: DatabaseFunction("interrupted", argumentCount: 1) { values in
                        if values[0] == 100.databaseValue { interruption.request(.interrupt) }
                        return values[0]
                    }
                )
                try queue.interruptible(by: interruption) {
                    try database.execute(
                        sql: """
                            WITH RECURSIVE counted (number) AS (SELECT 1 UNION ALL SELECT interrupted(number + 1) FROM counted)
                            INSERT INTO made SELECT number FROM counted
                            """
                    )
                }
            }
        }
        #expect(error?.code == .interrupted)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM made") } == 0)
    }

    @Test func doesNotBeginAfterAnInterruption() throws {
        let (queue, interruption) = (try DatabaseQueue(), Interruption())
        interruption.request(.interrupt)
        var hasBegun = false
        #expect(throws: ImportError.self) { try queue.interruptible(by: interruption) { hasBegun = true } }
        #expect(!hasBegun)
    }

    @Test func leavesAloneWhatComesAfterIt() throws {
        let (queue, interruption) = (try DatabaseQueue(), Interruption())
        try queue.interruptible(by: interruption) {}
        interruption.request(.interrupt)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
    }
}
