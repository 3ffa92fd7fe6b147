import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

extension StoreInspection {
    /// Writes rejects job by job in source order.
    ///
    /// - Parameters:
    ///   - selection: the rejects to write.
    ///   - format: the format.
    ///   - body: receives the bytes of one or more whole lines at a time.
    /// - Throws: `ImportError` as `status` does, and what `body` throws.
    public func exportRejects(
        _ selection: RejectSelection = RejectSelection(),
        as format: RejectExport.Format,
        _ body: ([UInt8]) throws -> Void
    ) throws -> RejectExport {
        var exporter = RejectExporter(as: format)
        let damage = try scanRejects(selection) { try exporter.append($0, to: body) }
        try exporter.flush(to: body)
        if let damage { throw damage }
        return exporter.export
    }

    /// Writes rejects to a file, which is written under a temporary name first, and then renamed.
    ///
    /// - Parameters:
    ///   - selection: the rejects to write.
    ///   - format: the format.
    ///   - path: the path of the file; its folder must exist.
    ///   - overwrites: true if an existing file may be replaced.
    /// - Throws: `ImportError`: `.cannotCreate` when the file exists or cannot be created, `.io` when it cannot be
    ///   written, and as `status` does.
    public func exportRejects(
        _ selection: RejectSelection = RejectSelection(),
        as format: RejectExport.Format,
        toFile path: String,
        overwrites: Bool = false
    ) throws -> RejectExport {
        let file = try AtomicFile(path: path, overwrites: overwrites)
        var exporter = RejectExporter(as: format)
        let damage = try scanRejects(selection) { try exporter.append($0) { try file.write($0[...]) } }
        try exporter.flush { try file.write($0[...]) }
        try file.finish()
        if let damage { throw damage }
        return exporter.export
    }
}
