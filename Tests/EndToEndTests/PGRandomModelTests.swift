import TestSupport
import Testing

/// Models and records at random are in a server's schema what they are in a SQLite store: imported in small chunks and several
/// times, their rejects mended and retried; all tables, keys and counts are compared.
///
/// `scripts/server-relationships --small` does that of many more.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGRandomModelTests {
    struct Kind: CustomTestStringConvertible {
        let testDescription: String
        /// Options of `server_cases.py`.
        let options: [String]
        let graphs: Int
        let seed: Int

        init(_ name: String, _ features: String? = nil, graphs: Int, seed: Int, _ options: String...) {
            testDescription = name
            self.options = (features.map { ["--features", $0] } ?? []) + options
            self.graphs = graphs
            self.seed = seed
        }
    }

    private static let kinds = [
        Kind("any", graphs: 3, seed: 7),
        Kind(
            "inheritance",
            "inheritance,required,keyless,rejects,coercions,sources,unresolved",
            graphs: 2,
            seed: 1
        ),
        Kind(
            "partners",
            "symmetric,on_conflict,nulls,unresolved",
            graphs: 1,
            seed: 5,
            "--shapes",
            "5,2",
            "--having",
            #""(r\d)": \{"entity": "\w+", "inverse": "\1""#
        ),
        Kind(
            "unresolved references",
            "unresolved,rejects,keyless,on_conflict,repeats,cycles",
            graphs: 2,
            seed: 3,
            "--having",
            #""unresolved": "reject""#
        ),
        Kind("names", "by,repeats,nulls", graphs: 2, seed: 1, "--having", #""by""#),
        Kind("objects without identifier", "keyless,nulls,repeats,sources", graphs: 2, seed: 3, "--having", "inverse"),
        Kind(
            "unions",
            "union,keyless,repeats,nulls,sources,values,composite,index",
            graphs: 1,
            seed: 2,
            "--having",
            #""list": "union""#,
            "--but-counts"
        ),
        Kind(
            "owners",
            "local,keyless,repeats,nulls,sources,values,composite,index",
            graphs: 1,
            seed: 2,
            "--having",
            #""owner": "local""#,
            "--but-counts"
        ),
    ]

    /// None of these is of a kind that a server refuses.
    @Test(arguments: Cases.few(1, of: kinds)) func areWhatAStoreHas(_ kind: Kind) throws {
        let database = try PGDatabase()
        let script = [Project.python, "-B", Project.check("server_cases.py"), "--importer", Project.importer]
        let graphs = Cases.few(1, of: kind.graphs)
        let numbers = ["--graphs", "\(graphs)", "--seed", "\(kind.seed)"]
        let command = script + ["--url", database.url] + numbers + kind.options
        let result = try ChildProcess(command, environment: database.server.environmentWithPrograms).wait()
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        let same = result.outputText.split(separator: "\n").count { $0.hasSuffix(": same") }
        #expect(same == graphs, "\(result.outputText)")
    }
}
