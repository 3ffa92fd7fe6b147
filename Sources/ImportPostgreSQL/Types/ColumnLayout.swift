import ImportModel
import Importer

/// What encoding looks at for each value of a row: the columns' types, and what absent attributes get.
///
/// In memory of its own, so that nothing is counted or checked for each value.
final class ColumnLayout {
    let types: UnsafeMutablePointer<PGType>
    /// Whether a value that the column cannot have becomes NULL.
    let becomesNull: UnsafeMutablePointer<Bool>
    /// True if U+0000 in a text becomes U+FFFD.
    let replacesNUL: Bool
    /// Whether it is part of the identifier.
    let isIdentifier: UnsafeMutablePointer<Bool>
    let defaults: UnsafeMutablePointer<Cell>
    let defaultBytes: UnsafeMutablePointer<UInt8>
    /// The bytes of all defaults.
    let defaultLength: Int

    init(_ columns: [PGColumn], _ plan: EntityPlan, _ options: JobOptions) {
        types = .allocate(capacity: max(1, columns.count))
        becomesNull = .allocate(capacity: max(1, columns.count))
        isIdentifier = .allocate(capacity: max(1, columns.count))
        defaults = .allocate(capacity: max(1, columns.count))
        defaultLength = plan.defaultBytes.count
        replacesNUL = options.nul == .replace
        // Values are read in words, none of which begins past the end.
        defaultBytes = .allocate(capacity: max(1, defaultLength))
        for (index, column) in columns.enumerated() {
            (types + index).initialize(to: column.type)
            let isIdentifier = plan.identifier.contains(index)
            (self.isIdentifier + index).initialize(to: isIdentifier)
            (becomesNull + index).initialize(
                to: options.onError == .null && column.attribute.isOptional && !isIdentifier
            )
            (defaults + index).initialize(to: plan.defaults[index])
        }
        for (index, byte) in plan.defaultBytes.enumerated() { (defaultBytes + index).initialize(to: byte) }
    }

    deinit {
        types.deallocate()
        becomesNull.deallocate()
        isIdentifier.deallocate()
        defaults.deallocate()
        defaultBytes.deallocate()
    }
}
