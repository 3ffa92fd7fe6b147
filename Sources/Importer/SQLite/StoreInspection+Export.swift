import Foundation
import ImportModel

/// What was exported.
public struct RejectExport: Sendable, Hashable {
    /// How the rejects are written.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// A line of JSON for each, with its number, position and errors, and the record to edit: what a retry reads.
        case repairLines
        /// The records' original bytes alone, one per line.
        case raw
    }

    /// How many rejects were written.
    public internal(set) var rejects: Int64 = 0
    /// How many of them have only their records' first bytes.
    public internal(set) var partial: Int64 = 0

    /// Nothing yet.
    public init() {}
}

extension StoreInspection {
    /// Writes rejects job by job in source order.
    ///
    /// - Parameters:
    ///   - selection: which ones.
    ///   - format: how.
    ///   - body: given bytes of one or more whole lines at a time.
    /// - Throws: `ImportError` as `status` does, and what `body` throws.
    public func exportRejects(
        _ selection: RejectSelection = RejectSelection(),
        as format: RejectExport.Format,
        _ body: ([UInt8]) throws -> Void
    ) throws -> RejectExport {
        let (export, damage) = try exportRejects(selection, as: format, leavingOutPartial: false, body)
        if let damage { throw damage }
        return export
    }

    /// - Returns: what was exported, and what is wrong where some rejects cannot be read.
    private func exportRejects(
        _ selection: RejectSelection,
        as format: RejectExport.Format,
        leavingOutPartial: Bool,
        _ body: ([UInt8]) throws -> Void
    ) throws -> (RejectExport, ImportError?) {
        var export = RejectExport()
        var pending: [UInt8] = []
        let writer = RepairLineWriter()
        let damage = try scanRejects(selection) { reject in
            if reject.isPartial {
                export.partial += 1
                if leavingOutPartial { return }
            }
            export.rejects += 1
            switch format {
            case .repairLines: writer.append(reject, to: &pending)
            case .raw: pending += reject.record + [0x0A]
            }
            guard pending.count >= 1 << 16 else { return }
            try body(pending)
            pending.removeAll(keepingCapacity: true)
        }
        if !pending.isEmpty { try body(pending) }
        return (export, damage)
    }

    /// Writes rejects to a file, all or nothing: under a temporary name first, and then renamed.
    ///
    /// - Parameters:
    ///   - selection: which ones.
    ///   - format: how.
    ///   - path: the file; its folder must be there.
    ///   - overwrites: whether an existing file may be replaced.
    /// - Throws: `ImportError`: `.cannotCreate` when the file exists or cannot be created, `.io` when it cannot be
    ///   written, and as `status` does.
    public func exportRejects(
        _ selection: RejectSelection = RejectSelection(),
        as format: RejectExport.Format,
        toFile path: String,
        overwrites: Bool = false
    ) throws -> RejectExport {
        let file = try ExportFile(path: path, overwrites: overwrites)
        let (export, damage) = try exportRejects(selection, as: format, leavingOutPartial: false, file.write)
        try file.finish()
        if let damage { throw damage }
        return export
    }

    /// Writes the rejects that are whole to a new file that nobody else may read.
    ///
    /// - Parameters:
    ///   - selection: which ones.
    ///   - path: the file; its folder must be there.
    ///   - record: notes the device and inode of the file before anything is written to it.
    func exportRejects(
        _ selection: RejectSelection,
        toPrivateFile path: String,
        _ record: (FileNumber) throws -> Void
    ) throws -> RejectExport {
        let file = try ExportFile(newFile: path)
        try record(try file.number)
        let (export, damage) = try exportRejects(selection, as: .repairLines, leavingOutPartial: true, file.write)
        if let damage { throw damage }
        try file.finish()
        return export
    }
}

/// A file that is whole once it has its name, or is known to nobody before.
private final class ExportFile {
    private let path: String
    private let overwrites: Bool
    private let temporaryPath: String
    private var descriptor: Int32

    /// Makes the file under a name of its own; `finish` renames it.
    ///
    /// - Throws: `ImportError` with `.cannotCreate`.
    init(path: String, overwrites: Bool) throws {
        self.path = path
        self.overwrites = overwrites
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw ImportError(
                    .fileExists,
                    at: path,
                    "exists, and is not a regular file",
                    advice: "Give the path of a file; - is standard output."
                )
            }
            guard overwrites else { throw Self.isThere(path) }
        }
        var name = "\(path).partial-\(getpid())"
        descriptor = Self.make(name, mode: 0o666)
        // A file of this name is another's.
        for number in 2..<100 where descriptor < 0 && errno == EEXIST {
            name = "\(path).partial-\(getpid())-\(number)"
            descriptor = Self.make(name, mode: 0o666)
        }
        temporaryPath = name
        guard descriptor >= 0 else { throw failure(.cannotCreate, "create") }
    }

    /// Makes the file under its name, for this user alone.
    ///
    /// - Throws: `ImportError` with `.cannotCreate`, also when it is there.
    init(newFile path: String) throws {
        self.path = path
        temporaryPath = path
        overwrites = false
        descriptor = Self.make(path, mode: 0o600)
        guard descriptor >= 0 else { throw failure(.cannotCreate, "create") }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        unlink(temporaryPath)
    }

    private static func make(_ path: String, mode: mode_t) -> Int32 {
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    }

    private static func isThere(_ path: String) -> ImportError {
        ImportError(
            .fileExists,
            at: path,
            "exists, and may have been edited",
            advice: "Give another path, or \(.overwrites) to write over it."
        )
    }

    private func failure(_ reason: ImportError.Reason, _ action: String) -> ImportError {
        let number = errno
        let message: ImportText = "cannot \(action) \(path): \(String(cString: strerror(number)))"
        return (.shortage(number, message) ?? ImportError(reason, message)).about(path)
    }

    /// Its device and inode.
    var number: FileNumber {
        get throws {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw failure(.systemCallFailed, "look at") }
            return FileNumber(status)
        }
    }

    func write(_ bytes: [UInt8]) throws {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw failure(.cannotWrite, "write")
            }
            written += count
        }
    }

    /// Puts the file in its place, once its bytes are on the disk.
    func finish() throws {
        guard fsync(descriptor) == 0 else { throw failure(.cannotWrite, "write") }
        if temporaryPath != path { try rename() }
        close(descriptor)
        descriptor = -1
    }

    private func rename() throws {
        if !overwrites {
            if link(temporaryPath, path) == 0 {
                unlink(temporaryPath)
                return
            }
            var status = stat()
            if errno == EEXIST || lstat(path, &status) == 0 { throw Self.isThere(path) }
        }
        guard Foundation.rename(temporaryPath, path) == 0 else { throw failure(.cannotCreate, "create") }
    }
}
