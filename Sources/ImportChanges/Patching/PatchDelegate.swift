import ImportEngine
import ImportModel

/// Has a say in what changes come to, in a program that patches.
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
/// Each function has a default, which leaves all as it is without a delegate. They are called in the order of the changes, one at a
/// time: by the check, and again in the transaction that writes, which they must not write to. After a kill they are called once
/// more; they must give the same answers then. A delegate is not kept in the store: what is interrupted is resumed by the same program.
public protocol PatchDelegate: Sendable {
    /// What an object that is to be inserted gets besides what its change gives.
    ///
    /// - Parameter change: of an object that the store does not have.
    func attributesForInserted(_ change: ObjectChange) throws -> PatchAddition

    /// How a change is applied.
    ///
    /// - Parameters:
    ///   - change: of a line, or nested in one.
    ///   - object: the attributes that the change set's entity has, as the store has them; nil where there is no such object.
    func patch(_ change: ObjectChange, _ object: [NamedValue]?) throws -> PatchDecision

    /// The value of JSON that does not fit the type of its attribute; nil where it has none, which makes the change set invalid.
    func value(_ json: JSONValue, of attribute: AttributeDescription) -> StoredValue?

    /// What is done in a conflict; nil for what the options say.
    func resolve(_ conflict: PatchConflict) throws -> PatchResolution?
}

/// What a delegate adds to an object that is inserted.
public struct PatchAddition: Sendable {
    /// Attributes that the change does not give.
    public var attributes: [NamedValue]
    /// Objects that it owns, as changes that insert them.
    public var relationships: [OwnedChange]

    /// Values and owned objects.
    public init(attributes: [NamedValue] = [], relationships: [OwnedChange] = []) {
        self.attributes = attributes
        self.relationships = relationships
    }
}

/// How a delegate has a change applied.
public enum PatchDecision: Sendable, Hashable {
    /// As without a delegate.
    case standard
    /// Not at all; it is ignored, with what is nested in it.
    case skip
    /// These values are written, whatever the store has, and no other of the object's own; an object that is not there is inserted.
    case attributes([NamedValue])
}

/// What a delegate does in a conflict.
public enum PatchResolution: Sendable, Hashable {
    /// The store's value stays.
    case keep
    /// The change's value is written.
    case take
    /// This value is written; where the conflict is about an object as a whole, it is as `take`.
    case value(StoredValue)
    /// Nothing of the line is written, and it is a reject.
    case reject
}

extension PatchDelegate {
    /// Nothing.
    public func attributesForInserted(_ change: ObjectChange) throws -> PatchAddition { PatchAddition() }

    /// As without a delegate.
    public func patch(_ change: ObjectChange, _ object: [NamedValue]?) throws -> PatchDecision { .standard }

    /// None.
    public func value(_ json: JSONValue, of attribute: AttributeDescription) -> StoredValue? { nil }

    /// What the options say.
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
