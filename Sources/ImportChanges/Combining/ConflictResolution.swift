import Foundation
import ImportEngine
import ImportModel

/// The open conflicts of a store to resolve, with their resolutions.
public enum ConflictResolution: Sendable, Hashable {
    /// The conflicts of the lines of a file that have a `take`, which is the resolution.
    case file(URL)
    /// All conflicts, or those of an entity or attribute, with the values of one side.
    case side(MergeConflict.Take, entity: String? = nil, attribute: String? = nil)
}

extension ConflictResolution {
    /// What reports call the changes that it makes.
    package var name: String {
        switch self {
        case .file(let url): url.relativePath
        case .side: "resolved conflicts"
        }
    }

    /// Calls `body` with each conflict that is resolved, which says how.
    ///
    /// - Returns: how many of a file's are resolved already, and passed over.
    package func each(of conflicts: StoreConflicts, _ body: (MergeConflict) throws -> Void) throws -> Int {
        switch self {
        case .side(let take, let entity, let attribute):
            while var conflict = try conflicts.next() {
                guard entity.map(conflict.entity.hasSameBytes) ?? true else { continue }
                let properties = (conflict.base ?? []) + (conflict.ours ?? []) + (conflict.theirs ?? [])
                if let attribute, !properties.contains(where: { $0.name.hasSameBytes(as: attribute) }) { continue }
                conflict.take = take
                try body(conflict)
            }
            return 0
        case .file(let url): return try each(in: url.path, of: conflicts, body)
        }
    }

    private func each(
        in path: String,
        of conflicts: StoreConflicts,
        _ body: (MergeConflict) throws -> Void
    ) throws -> Int {
        var resolved = 0
        let lines = try ChangeSetLines(path, maxLineBytes: 256 << 20)
        var seen: Set<Int64> = []
        while let line = try lines.next() {
            guard line.withUnsafeBufferPointer({ ChangeLineReader.isConflict(ByteView($0)) }) else {
                // What is around them in a change set is passed over.
                continue
            }
            let given: MergeConflict
            do {
                given = try conflicts.read(line)
            } catch let error as ChangeSetScanner.LineError {
                throw lines.error(error)
            }
            guard let take = given.take else { continue }
            guard let (found, isOpen) = try conflicts.conflict(given.number), found.kind == given.kind,
                found.entity.hasSameBytes(as: given.entity), found.identifier == given.identifier
            else {
                throw lines.error(
                    .init(
                        reason: "conflict \(given.number) is not open in the store, or is about another object",
                        byteOffset: 0,
                        advice: "List the open conflicts, and resolve those."
                    )
                )
            }
            guard seen.insert(given.number).inserted else {
                throw lines.error("conflict \(given.number) is there twice")
            }
            guard isOpen else {
                resolved += 1
                continue
            }
            var conflict = found
            conflict.take = take
            if case .values(let values) = take, let name = conflict.unknown(values) {
                throw lines.error("conflict \(given.number) is not about \(name)")
            }
            try body(conflict)
        }
        return resolved
    }
}

extension MergeConflict {
    /// A name that it is not about; nil for none.
    fileprivate func unknown(_ values: [Property]) -> String? {
        let all = (ours ?? theirs ?? []) + (base ?? [])
        return values.first { value in !all.contains { $0.name.hasSameBytes(as: value.name) } }?.name
    }
}
