import Foundation
import ImportModel
import ImportSources

/// A file with a model: JSON as `ModelDescription` reads it, or a Core Data model as Xcode stores it.
///
///     let file = try ModelFile(at: "Moody.xcdatamodeld")
///     let job = JobOptions(model: file.model)
public struct ModelFile: Sendable {
    /// The model.
    public let model: ModelDescription
    /// Parts of a Core Data model that `model` does not have, in the file's order; empty for JSON.
    public let notices: [ModelError.Mistake]

    /// The largest file that is read, in bytes.
    static let mostBytes = 64 << 20

    /// Reads a model file.
    ///
    /// - Parameters:
    ///   - path: a file or pipe with JSON or the XML of Core Data's `contents`, an `.xcdatamodel`, or an `.xcdatamodeld`: its
    ///     current version, else its only one; `X.xcdatamodeld:NAME` names another.
    ///   - keyStyle: the keys in JSON of Core Data properties that do not name their own.
    ///   - transformers: the transformers that JSON may name.
    /// - Throws: `ImportError` with `.noInput` when there is no such file or version, with `.badInput` when it is not a model; its
    ///   `modelError` then has all mistakes.
    public init(
        at path: String,
        keyStyle: CoreDataModel.KeyStyle = .any,
        transformers: TransformerRegistry = .standard
    ) throws {
        let file = try CoreDataFolder.contents(of: path) ?? path
        let bytes = try Self.bytes(of: file)
        do {
            if Self.isXML(bytes) {
                let coreData = try CoreDataModel(parsing: bytes, keyStyle: keyStyle)
                (model, notices) = (coreData.model, coreData.notices)
            } else {
                if let binary = CoreDataFolder.binary(bytes, at: file) { throw binary }
                model = try ModelDescription(parsing: bytes, transformers: transformers)
                notices = []
            }
        } catch let error as ModelError {
            // One line per mistake.
            throw ImportError(
                .modelInvalid,
                at: path,
                "is not a valid model file",
                advice: "\(error)",
                modelError: error
            )
        }
    }

    /// True if a file is XML and not JSON, by its first character.
    private static func isXML(_ bytes: [UInt8]) -> Bool {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "<")
    }

    /// The bytes of a file or a pipe.
    ///
    /// - Throws: `ImportError` when it cannot be read, or is too large.
    private static func bytes(of path: String) throws -> [UInt8] {
        let bytes: Data
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            bytes = try file.read(upToCount: mostBytes + 1) ?? Data()
        } catch {
            guard FileManager.default.fileExists(atPath: path) else {
                throw ImportError(.fileNotFound, at: path, "the model file does not exist")
            }
            throw ImportError(.fileUnreadable, at: path, "the model file cannot be read")
        }
        guard bytes.count <= mostBytes else {
            throw ImportError(.modelInvalid, at: path, "is not a model file: it is larger than 64 MiB")
        }
        return [UInt8](bytes)
    }
}
