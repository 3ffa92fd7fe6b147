import ArgumentParser

/// What the messages of a server may have.
struct PostgreSQLMessageArguments: ParsableArguments {
    @Flag(help: "Show values in what the server says is wrong (its DETAIL).")
    var showValues = false
}
