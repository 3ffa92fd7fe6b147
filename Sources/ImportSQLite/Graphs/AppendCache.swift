import ImportEngine

/// What is known of the objects that a job has appended, as far as there is room; whatever is forgotten is found out again.
package struct AppendCache {
    /// What nested objects have said last.
    package var digests = RowDigestCache()
    /// By entity, which identifiers its rows have while no index says so; nil of those whose objects are looked up, and while
    /// that is not known.
    package var identifiers: [BloomFilter?] = []
}
