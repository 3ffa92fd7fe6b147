/// What is left in a store of the objects that a finished job has brought there.
package enum JobPresence: Sendable {
    /// As far as can be told, all of them.
    case whole
    /// Some are gone.
    case partial
    /// The tables are gone, or empty.
    case gone
}
