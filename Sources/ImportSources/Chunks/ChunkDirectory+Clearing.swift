import Glibc

/// What is in a chunk directory, and what of it may be removed: files whose names a manifest has reserved.
extension ChunkDirectory {
    /// The names that a chunk directory's files may have: where one is used that this program did not make, the directory
    /// is another's.
    package func chunkNames() throws -> [String] {
        let manifest = ChunkManifest.fileName
        return try names().filter {
            $0.hasPrefix("chunk-") || $0 == manifest || $0 == Self.temporaryName(manifest)
        }.sorted()
    }

    /// The numbers of the chunks that have a file here, whole or partial, those of other programs included.
    package func chunkNumbers() throws -> Set<Int> {
        Set(try names().compactMap(Self.number))
    }

    /// The number of the chunk whose file has this name, whole or partial.
    private static func number(_ name: String) -> Int? {
        guard name.hasPrefix("chunk-") else { return nil }
        let digits = name.dropFirst(6).prefix { $0 != "." }
        guard let number = Int(digits), 1...ReservedChunkNumbers.most ~= number else { return nil }
        let file = fileName(number)
        return name == file || name == temporaryName(file) ? number : nil
    }

    /// True if this is the name of a chunk file, whole or partial, that a manifest has reserved.
    package func isReserved(_ name: String, by numbers: ReservedChunkNumbers) -> Bool {
        Self.number(name).map(numbers.contains) ?? false
    }

    /// Removes the chunk files whose names are reserved, whole and partial ones.
    ///
    /// - Parameters:
    ///   - numbers: those that the manifest in this directory has reserved.
    ///   - kept: the numbers of whole files that stay.
    package func removeChunks(_ numbers: ReservedChunkNumbers, keeping kept: Set<Int> = []) throws {
        for name in try names() {
            guard let number = Self.number(name), numbers.contains(number) else { continue }
            if kept.contains(number), name == Self.fileName(number) { continue }
            try remove(name)
        }
    }

    /// Removes the chunks of a manifest, then the manifest: after a kill in between, the rest is still known.
    ///
    /// - Parameter numbers: those that the manifest in this directory, which is the caller's own, has reserved.
    package func removeFiles(_ numbers: ReservedChunkNumbers) throws {
        try removeChunks(numbers)
        try remove(ChunkManifest.fileName)
    }

    /// Removes the directory itself, if it is empty and still what its path leads to.
    package func removeIfEmpty() {
        if DeviceAndInode(link: path) == number { rmdir(path) }
    }

    /// True if the file at `path` is in this very directory.
    package func holds(fileAt path: String) -> Bool {
        guard let slash = path.lastIndex(of: "/") else { return DeviceAndInode(".") == number }
        let folder = path[..<slash]
        return DeviceAndInode(folder.isEmpty ? "/" : String(folder)) == number
    }

    /// The names of all files.
    private func names() throws -> [String] {
        let copy = dup(descriptor)
        guard copy >= 0, let stream = fdopendir(copy) else {
            let failure = errno
            if copy >= 0 { close(copy) }
            throw ImportError.system(failure, "list the chunk directory", path)
        }
        defer { closedir(stream) }
        rewinddir(stream)
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
            )
        }
        return names
    }
}
