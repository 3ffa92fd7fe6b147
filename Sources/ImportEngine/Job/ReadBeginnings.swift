import Foundation
import ImportSources

/// What was read of sources in earlier rounds of a run that follows them, so that only what has come since is read.
///
/// That a file is the same is told by its inode, its first bytes and those before the place where its new ones begin.
package final class ReadBeginnings {
    private static let mostCompared: Int64 = 4096

    private struct Entry {
        let beginning: SourceCheck.Beginning
        let inode: UInt64?
        /// Of its first bytes, and of the last ones.
        let ends: [String]
    }

    private var entries: [BytewiseString: Entry] = [:]

    package init() {}

    /// What was read of a source; nil where nothing was, or it is another file by now.
    func known(
        of now: SourceDescription,
        as before: SourceDescription,
        _ opener: SourceOpener,
        _ interruption: Interruption
    ) throws -> SourceCheck.Beginning? {
        guard let key = now.key, let entry = entries[key], Self.isPlain(now, before), now.key == before.key,
            entry.inode == now.inode, now.end ?? now.size ?? 0 >= entry.beginning.end,
            try Self.ends(of: now, upTo: entry.beginning.end, opener, interruption) == entry.ends
        else { return nil }
        return entry.beginning
    }

    /// True if no more was read of a source than is to be read of it now.
    func hasRead(_ source: SourceDescription) -> Bool {
        guard let end = source.end, let key = source.key, let entry = entries[key] else { return false }
        return entry.inode == source.inode && entry.beginning.end <= end
    }

    func keep(
        _ beginning: SourceCheck.Beginning,
        of now: SourceDescription,
        as before: SourceDescription,
        _ opener: SourceOpener,
        _ interruption: Interruption
    ) {
        guard let key = now.key else { return }
        guard Self.isPlain(now, before), let ends = try? Self.ends(of: now, upTo: beginning.end, opener, interruption)
        else {
            entries[key] = nil
            return
        }
        entries[key] = Entry(beginning: beginning, inode: now.inode, ends: ends)
    }

    /// True if bytes of the file are those of the source, so that it can be read from any of them.
    private static func isPlain(_ now: SourceDescription, _ before: SourceDescription) -> Bool {
        !now.isCompressed && now.encoding == nil && before.form == nil && before.encoding == nil
    }

    private static func ends(
        of source: SourceDescription,
        upTo end: Int64,
        _ opener: SourceOpener,
        _ interruption: Interruption
    ) throws -> [String] {
        try [0, max(0, end - mostCompared)].map { start in
            let stream = try opener.open(source.plain, at: start, interruption: interruption)
            var bytes: [UInt8] = []
            try stream.read(upTo: min(end, start + mostCompared)) { bytes += $0 }
            return bytes.withUnsafeBytes { XXH3Hasher.digest(of: $0) }
        }
    }
}
