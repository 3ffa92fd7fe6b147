import ArgumentParser

/// What the messages of a server may have.
struct PostgreSQLMessageArguments: ParsableArguments {
    @Flag(help: "Show values in the server's error messages (DETAIL).")
    var showValues = false
}
