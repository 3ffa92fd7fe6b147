import CPostgreSQL
import Importer

/// The library itself.
enum LibPQ {
    private static let isLoaded = cpostgresql_load() != nil
    /// True if it sends several statements in one round trip; call `load()` first.
    static let hasPipelines = cpostgresql_has_pipelines() != 0

    /// Loads it where that has not been done; nothing of it may be called before.
    ///
    /// - Throws: `ImportError` with `.serverUnavailable` where it is not installed.
    static func load() throws {
        guard !isLoaded else { return }
        throw ImportError(
            .serverUnavailable,
            "libpq, which connects to servers, is not installed",
            advice: "Install it: apt install libpq5."
        )
    }
}
