import Foundation
import ImportSources

/// A chunk directory or a repair file that an import of this store makes, recorded before it is made.
///
/// Only what is recorded here, and still is what was made, is ever removed.
package struct RecordedFile: Sendable, Hashable {
    /// What it is.
    package enum Kind: String, Sendable {
        case chunks
        case repair
    }

    /// What it is for.
    package enum State: String, Sendable {
        /// The job needs it until it is finished.
        case used
        /// Nobody needs it any more.
        case left
    }

    /// The job's.
    package let token: String
    /// Absolute.
    package let path: String
    package let kind: Kind
    package var state = State.used
    /// True if it was not there before.
    package var isMade: Bool
    /// Its device and inode; nil until it is made.
    ///
    /// Nothing is put into it before they are recorded.
    package var number: DeviceAndInode?

    package init(token: String, path: String, kind: Kind, isMade: Bool, number: DeviceAndInode? = nil) {
        self.token = token
        self.path = path
        self.kind = kind
        self.isMade = isMade
        self.number = number
    }

    /// A job's chunk directory.
    package init(chunksOf job: StoredJob, isMade: Bool) {
        self.init(token: job.token, path: job.chunkDirectory, kind: .chunks, isMade: isMade)
    }

    /// The repair file that a retry of stored rejects reads, as the job knows it; nil where it is another one by now.
    package init?(repairFileOf job: StoredJob) {
        var status = stat()
        guard job.retry == .stored, let source = job.sources.first?.description, let path = source.path,
            lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, source.size == Int64(status.st_size),
            source.modified == Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
        else { return nil }
        self.init(token: job.token, path: path, kind: .repair, isMade: true, number: DeviceAndInode(status))
    }

    /// True if it is the directory in which a job keeps its chunks.
    package func isUsed(forChunksOf job: StoredJob) -> Bool {
        token == job.token && kind == .chunks && state == .used
    }

    /// True if this is the file that was made.
    ///
    /// - Parameters:
    ///   - found: the device and inode of what is there now.
    ///   - isKnown: whether it has the job's token in it. A device may have another number after a restart of the system.
    package func isSame(as found: DeviceAndInode, isKnown: Bool) -> Bool {
        guard let number else { return false }
        return number == found || (isKnown && number.inode == found.inode)
    }

    // MARK: Removing

    /// Removes what was made, as far as it is still that.
    package func remove(store: String) throws {
        switch kind {
        case .chunks: try removeChunks()
        case .repair: try removeRepairFile(store: store)
        }
    }

    /// Waits until it is on the disk that the file is gone: it stays recorded until no power cut can bring it back.
    package func syncRemoval() throws {
        let folder = DeviceAndInode(link: path) == nil ? URL(filePath: path).deletingLastPathComponent().path : path
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder that may not be read cannot be synced; the file is gone from it all the same.
        if descriptor < 0, [ENOENT, ENOTDIR, EACCES].contains(errno) { return }
        guard descriptor >= 0 else { throw ImportError.system(errno, "open", folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw ImportError.system(errno, "sync", folder) }
    }

    private func removeChunks() throws {
        guard DeviceAndInode(link: path) != nil else { return }
        let directory = try ChunkDirectory(path: path, creates: false)
        let chunks = try ChunkManifest.readNumbers(in: directory)
        let isKnown = chunks?.job == token
        guard isSame(as: directory.number, isKnown: isKnown) else {
            // Made, but not recorded as such before a kill: then it is empty.
            if number == nil, isMade { directory.removeIfEmpty() }
            return
        }
        if let chunks, isKnown { try directory.removeFiles(chunks.numbers) }
        try directory.remove(ChunkDirectory.temporaryName(ChunkManifest.fileName))
        if isMade { directory.removeIfEmpty() }
    }

    /// A repair file lies beside its store and has a name that the importer gives.
    private func removeRepairFile(store: String) throws {
        let file = URL(filePath: path)
        let store = URL(filePath: store)
        let name = file.lastPathComponent
        guard ["retry", "patch"].contains(where: { name.hasPrefix("\(store.lastPathComponent).\($0)") }),
            name.hasSuffix(".ndjson"),
            DeviceAndInode(file.deletingLastPathComponent().path)
                == DeviceAndInode(store.deletingLastPathComponent().path)
        else { return }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            // Made, but not recorded as such before a kill: then it is empty.
            isSame(as: DeviceAndInode(status), isKnown: false) || (number == nil && status.st_size == 0)
        else { return }
        guard unlink(path) == 0 || errno == ENOENT else { throw ImportError.system(errno, "remove", path) }
    }
}
