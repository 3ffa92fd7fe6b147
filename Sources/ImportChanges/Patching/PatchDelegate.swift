import ImportEngine
import ImportModel

/// Customizes how a patch applies changes and resolves conflicts.
///
/// ```swift
/// struct Ages: PatchDelegate {
///     func resolve(_ conflict: PatchConflict) -> PatchResolution? {
///         guard conflict.attribute == "age", case .stored(.integer(let own))? = conflict.stored,
///             case .stored(.integer(let other))? = conflict.new
///         else { return nil }
///         return own > other ? .keep : .take
///     }
/// }
/// var options = DifferenceOptions()
/// options.entities = ["people"]
/// let changes = URL(filePath: "monday.changes.ndjson")
/// try StoreDifference(from: "sunday.sqlite", to: "monday.sqlite", options: options).write(to: ChangeSetWriter(changes))
/// let outcome = try PatchPipeline(changes, into: "sunday.sqlite", delegate: Ages()).run()
/// print(outcome.report.conflicts ?? 0)
/// ```
///
/// Each method has a default implementation, which does what happens without a delegate. Methods are called in the order of the changes,
/// one at a time: by the check, and again in the transaction that writes, in which they must not write. After a crash they are called
/// once more, and must return the same results. A delegate is not stored: an interrupted patch must be resumed by the same program.
public protocol PatchDelegate: Sendable {
    /// Attributes and owned objects for an inserted object, in addition to those of its change.
    ///
    /// - Parameter change: the change of an object that the store does not have.
    func attributesForInserted(_ change: ObjectChange) throws -> PatchAddition

    /// Decides how a change is applied.
    ///
    /// - Parameters:
    ///   - change: the change of a line, or one nested in it.
    ///   - object: the store's values of the attributes of the change set's entity; nil if there is no such object.
    func patch(_ change: ObjectChange, _ object: [NamedValue]?) throws -> PatchDecision

    /// The value for JSON that does not fit the type of its attribute; nil if there is none, which makes the change set invalid.
    func value(_ json: JSONValue, of attribute: AttributeDescription) -> StoredValue?

    /// Resolves a conflict; nil to use the options.
    func resolve(_ conflict: PatchConflict) throws -> PatchResolution?
}

/// Attributes and objects that a delegate adds to an inserted object.
public struct PatchAddition: Sendable {
    /// Attributes that the change does not have.
    public var attributes: [NamedValue]
    /// Objects that it owns, as changes that insert them.
    public var relationships: [OwnedChange]

    /// Creates an addition of values and owned objects.
    public init(attributes: [NamedValue] = [], relationships: [OwnedChange] = []) {
        self.attributes = attributes
        self.relationships = relationships
    }
}

/// A delegate's decision on how to apply a change.
public enum PatchDecision: Sendable, Hashable {
    /// The change is applied as without a delegate.
    case standard
    /// The change is ignored, with all changes nested in it.
    case skip
    /// Only the given values of the object are written, whatever the store has; an object that does not exist is inserted.
    case attributes([NamedValue])
}

/// A delegate's resolution of a conflict.
public enum PatchResolution: Sendable, Hashable {
    /// The store's value is kept.
    case keep
    /// The change's value is written.
    case take
    /// The given value is written; in a conflict about an object as a whole, the same as `take`.
    case value(StoredValue)
    /// Nothing of the line is written, and it becomes a reject.
    case reject
}

extension PatchDelegate {
    /// Adds nothing.
    public func attributesForInserted(_ change: ObjectChange) throws -> PatchAddition { PatchAddition() }

    /// The change is applied as without a delegate.
    public func patch(_ change: ObjectChange, _ object: [NamedValue]?) throws -> PatchDecision { .standard }

    /// Returns nil.
    public func value(_ json: JSONValue, of attribute: AttributeDescription) -> StoredValue? { nil }

    /// Returns nil, to use the options.
    public func resolve(_ conflict: PatchConflict) throws -> PatchResolution? { nil }

    /// How values are read that do not fit.
    package var reading: StoredValueReader.Converter {
        { value($0, of: $1) }
    }
}

extension ObjectChange {
    /// Takes in what a delegate adds.
    package mutating func add(_ addition: PatchAddition) {
        for value in addition.attributes where !attributes.contains(where: { $0.name.hasSameBytes(as: value.name) }) {
            attributes.append(AttributeChange(value.name, new: value.value))
        }
        relationships += addition.relationships
    }
}
