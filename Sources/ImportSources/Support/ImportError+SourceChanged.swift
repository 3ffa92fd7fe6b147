extension ImportError {
    /// What is in of a chunk is not in its source any more.
    package static func sourceChanged(_ source: String) -> ImportError {
        ImportError(
            .sourceChanged,
            at: source,
            "has changed before the byte where the import stopped",
            advice: "Give the source as it was, or restart the import with \(.restart)."
        )
    }
}
